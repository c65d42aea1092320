#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/run/log/progress.hpp>
#include <cstdio>
#include <cstdlib>

namespace bochner {
namespace {

constexpr std::size_t widest_bar = 30;

std::string draw_bar(double part, std::size_t width) {
  const auto full = std::size_t(part * double(width));
  std::string bar;
  for (std::size_t i = 0; i < width; ++i) bar += i < full ? "━" : i == full ? "╸" : "─";
  return bar;
}

}  // namespace

TerminalSize terminal_size() {
  TerminalSize size;
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_col > 0) size.columns = window.ws_col;
  if (window.ws_row > 0) size.rows = window.ws_row;
  return size;
}

bool shows_blocks() {
  const char* terminal = std::getenv("TERM");
  if (!terminal || std::string_view(terminal) == "dumb") return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string text = lower_case(value);
    return text.find("utf-8") != text.npos || text.find("utf8") != text.npos;
  }
  return false;
}

void LinesInPlace::show(const std::vector<std::string>& lines) {
  std::string text;
  if (shown_ > 0) text += "\r\033[" + std::to_string(shown_) + "A";
  for (const std::string& line : lines) text += "\033[K" + line + "\n";
  text += "\033[J";  // erases surplus lines
  std::fputs(text.c_str(), stdout);
  shown_ = lines.size();
}

ProgressMode progress_mode(const std::string& name) {
  constexpr std::string_view names[] = {"auto", "bar", "plain", "none"};
  const auto* found = std::ranges::find(names, name);
  if (found != std::end(names)) return ProgressMode(found - names);
  throw std::invalid_argument("--progress " + name + ": must be auto, bar, plain or none");
}

Progress::Progress(ProgressMode mode, std::uint64_t total_steps, std::uint64_t tokens_per_step,
                   std::uint64_t first_step)
    : bar_(mode == ProgressMode::bar || (mode == ProgressMode::automatic && isatty(STDOUT_FILENO))),
      plain_(!bar_ && mode != ProgressMode::none),
      total_(total_steps),
      tokens_per_step_(tokens_per_step),
      first_(first_step) {}

Progress::~Progress() { erase_bar(); }

void Progress::line(const std::string& text) {
  if (bar_ || plain_) return result(text);
  if (live_log_) live_log_->console(text);
}

void Progress::result(const std::string& text) {
  if (live_log_) live_log_->console(text);
  erase_bar();
  std::fputs((printable(text) + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void Progress::warning(const std::string& text) {
  if (live_log_) live_log_->console(text);
  erase_bar();
  std::fflush(stdout);
  std::fputs((printable(text) + "\n").c_str(), stderr);
}

std::string Progress::status(std::uint64_t step, double loss, double learning_rate) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const double rate = double(step - first_) / std::max(seconds, 1e-9);
  return fmt::format(
      "loss {:.3f}  lr {:.1e}  {} tok/s  eta {}", loss, learning_rate,
      format_count(rate * double(tokens_per_step_)),
      format_duration(double(total_ - std::min(step, total_)) / std::max(rate, 1e-9)));
}

void Progress::step(std::uint64_t step, double loss, double learning_rate) {
  if (!bar_) return;
  const auto now = Clock::now();
  if (now - last_drawn_ < std::chrono::milliseconds(100) && step < total_) return;
  last_drawn_ = now;
  const std::string head =
      fmt::format("step     {:>{}}/{} ", step, fmt::formatted_size("{}", total_), total_);
  const std::string tail =
      fmt::format(" {:>3} %  {}", 100 * step / total_, status(step, loss, learning_rate));
  const std::size_t used = head.size() + tail.size() + 3,
                    columns = terminal_size().columns;  // 3: room for ^C
  const std::size_t room = columns > used ? std::min(widest_bar, columns - used) : 0;
  const std::string text =
      room > 0 ? head + draw_bar(double(step) / double(total_), room) + tail
               : (head + tail).substr(0, columns - 1);  // a line that wraps cannot be erased
  erase_bar();
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  drawn_ = true;
}

void Progress::log(std::uint64_t step, double loss, double learning_rate) {
  const std::string text =
      fmt::format("step     {:>{}}/{}  {}", step, fmt::formatted_size("{}", total_), total_,
                  status(step, loss, learning_rate));
  if (plain_)
    line(text);
  else if (live_log_)
    live_log_->console(text);
}

void Progress::metrics(const Json& line, double seconds) {
  if (live_log_) live_log_->metrics(line, seconds);
}

void Progress::erase_bar() {
  if (drawn_) std::fputs("\r\033[K", stdout);
  drawn_ = false;
}

}  // namespace bochner
