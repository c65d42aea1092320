#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/commands/compare/comparison.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

constexpr std::size_t widest_name = 40;

std::string padded(const std::string& text, std::size_t width) {
  const std::string kept = first_characters(text, width);
  return kept + std::string(width - character_count(kept), ' ');
}

/// Returns "  loss 1.412"; "" if the key was not logged.
std::string last_in_words(const RunView& run, const char* key) {
  const Curve& curve = run.curve(key);
  return curve.y.empty() ? "" : fmt::format("  {} {:.4g}", key, curve.y.back());
}

std::string best_in_words(const RunView& run) {
  const std::vector<double>& losses = run.curve("valid").y;
  return losses.size() < 2 ? "" : fmt::format("  best {:.4g}", *std::ranges::min_element(losses));
}

/// Returns tokens per second and remaining time, from the last lines of the clock.
std::string pace_in_words(const RunView& run) {
  constexpr std::size_t lines = 20;
  const Curve& seconds = run.clock("seconds");
  const Curve& tokens = run.curve("tokens");
  const double progress = run.progress();
  if (seconds.x.size() < 2 || tokens.x.size() < 2 || progress <= 0) return "";
  const std::size_t first = tokens.x.size() - std::min(tokens.x.size(), lines);
  const auto from = run.seconds_at(tokens.x[first]), to = run.seconds_at(tokens.x.back());
  if (!from || !to || *to <= *from) return "";
  const double took = *to - *from;
  const double steps = (tokens.x.back() - tokens.x[first]) / took;
  const double left = run.step() / progress - run.step();
  return fmt::format("  eta {}  {} tok/s", format_duration(left / steps),
                     format_count((tokens.y.back() - tokens.y[first]) / took));
}

/// Returns the second half of a long curve, since the initial drop would hide the current trend.
Curve recent(const Curve& curve, std::size_t width) {
  const std::size_t n = curve.y.size(), first = n < 4 * width ? 0 : n / 2;
  const auto from = [&](const std::vector<double>& numbers) {
    return std::vector<double>(numbers.begin() + std::ptrdiff_t(first), numbers.end());
  };
  return {from(curve.x), from(curve.y)};
}

std::string named(const std::string& name, std::size_t width, const std::string& line) {
  return name.empty() ? line : padded(printable(name), width) + "  " + line;
}

}  // namespace

bool WatchedRuns::refresh() {
  news_.clear();
  for (const Path& path : runs_in(*storage_, path_))
    if (std::ranges::find(runs_, path, &RunView::path) == runs_.end())
      runs_.emplace_back(*storage_, path);
  for (std::size_t i = 0; i < runs_.size(); ++i)
    if (runs_[i].refresh()) news_.push_back(i);
  return !news_.empty();
}

bool WatchedRuns::all_done() const {
  return !runs_.empty() && std::ranges::all_of(runs_, [](const RunView& run) {
    return run.phase() == RunPhase::done;
  });
}

std::string sparkline(const Curve& curve, std::size_t width) {
  constexpr const char* blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t n = curve.y.size(), pieces = std::min(width, n);
  std::vector<double> means;
  for (std::size_t i = 0; i < pieces; ++i) {
    const auto from = curve.y.begin() + std::ptrdiff_t(i * n / pieces),
               to = curve.y.begin() + std::ptrdiff_t((i + 1) * n / pieces);
    means.push_back(std::accumulate(from, to, 0.0) / double(to - from));
  }
  std::string line;
  if (means.empty()) return line;
  const auto [low, high] = std::ranges::minmax(means);
  for (const double mean : means)
    line += blocks[high > low ? std::size_t(std::lround(7 * (mean - low) / (high - low))) : 0];
  return line;
}

std::string line_of(const RunView& run, std::size_t sparkline_width) {
  const std::string phase = name_of(run.phase());
  if (run.phase() == RunPhase::missing) return phase;
  const double step = run.step(), progress = run.progress();
  std::string line = fmt::format("{:<9}step {:.0f}", phase, step);
  if (progress > 0 && progress < 1)
    line += fmt::format("/{:.0f}  {:.0f} %", step / progress, std::floor(100 * progress));
  const std::string blocks = sparkline(recent(run.curve("loss"), sparkline_width), sparkline_width);
  if (!blocks.empty()) line += "  " + blocks;
  line += last_in_words(run, "loss") + last_in_words(run, "valid") + best_in_words(run);
  return run.phase() == RunPhase::training ? line + pace_in_words(run) : line;
}

std::vector<std::string> lines_of(const std::deque<RunView>& runs, std::size_t rows,
                                  std::size_t columns, bool blocks) {
  std::vector<Path> paths;
  for (const RunView& run : runs) paths.push_back(run.path());
  std::vector<std::string> names(runs.size());
  if (runs.size() > 1) names = short_names(paths);
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, character_count(printable(name)));
  width = std::min(width, widest_name);
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_partition(
      order, [&](std::size_t i) { return runs[i].phase() == RunPhase::training; });
  const bool fits = runs.size() <= rows;
  std::vector<std::string> lines;
  for (const std::size_t i : order) {
    if (!fits && lines.size() + 1 >= rows) break;
    lines.push_back(
        first_characters(named(names[i], width, line_of(runs[i], blocks ? 12 : 0)), columns));
  }
  if (!fits)
    lines.push_back(
        first_characters(fmt::format("and {} more", runs.size() - lines.size()), columns));
  return lines;
}

}  // namespace bochner
