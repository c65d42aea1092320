#include <fmt/format.h>
#include <unistd.h>

#include <bochner/base/text.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/compare/comparison.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/run/log/progress.hpp>
#include <bochner/train/run/signals.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/sweep/journal.hpp>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

namespace bochner {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double shortest_period = 0.05, longest_period = 86400;

struct WatchOptions {
  std::string run, output, progress = "auto";
  double every = 2, page_every = 10, wait = 10;
};

/// Shows runs: a table in place on a terminal, otherwise a line per updated run.
void show(const WatchedRuns& watched, ProgressMode mode, LinesInPlace& lines) {
  if (mode == ProgressMode::none) return;
  if (mode == ProgressMode::bar || (mode == ProgressMode::automatic && ::isatty(STDOUT_FILENO))) {
    const auto [columns, rows] = terminal_size();
    lines.show(lines_of(watched.runs(), rows - 1, columns - 1, shows_blocks()));
  } else {
    for (const std::size_t i : watched.news()) {
      const RunView& run = watched.runs()[i];
      fmt::print("{}  {}\n", printable(run.path().string()), line_of(run, 0));
    }
  }
  flush_output();  // fails, and ends the watch, without a reader
}

/// HTML page of the runs, rewritten periodically. A write error is printed once.
class WatchedPage {
 public:
  explicit WatchedPage(const WatchOptions& options)
      : title_(options.run),
        file_(options.output.empty() ? (Path(options.run) / watch_page_name).string()
                                     : options.output),
        every_(options.page_every) {}

  void note_news() { stale_ = true; }
  /// Writes the page, which reloads itself, if there is news and the period has passed.
  void write_if_due(const std::deque<RunView>& runs) {
    if (stale_ && Clock::now() >= next_) write(runs, every_.count());
  }
  void write_last(const std::deque<RunView>& runs) { write(runs, 0); }

 private:
  void write(const std::deque<RunView>& runs, double refresh) try {
    if (runs.empty()) return;
    Page page = Comparison(runs).page(title_);
    if (refresh > 0) page.refresh_every(refresh);
    const std::string html = page.html();
    write_output(file_, [&](const Sink& sink) { sink(html); });
    stale_ = false;
    next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(every_);
  } catch (const IoError& error) {
    if (!std::exchange(warned_, true))
      fmt::print(stderr, "{}; continuing without the page\n", printable(error.what()));
  }

  std::string title_, file_;
  Seconds every_;
  Clock::time_point next_ = Clock::now();
  bool stale_ = false, warned_ = false;
};

/// Sleeps; returns false if a signal came first.
bool sleep_for(double seconds, const SignalGuard& signals) {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  while (!signals.stop_requested() && Clock::now() < until)
    std::this_thread::sleep_for(
        std::min<Clock::duration>(until - Clock::now(), std::chrono::milliseconds(50)));
  return !signals.stop_requested();
}

/// Whether there is a run and none has trained for options.wait seconds, since `idle_since`. A
/// single run that is done ends the watch at once.
bool has_ended(const WatchOptions& options, const WatchedRuns& watched,
               Clock::time_point& idle_since) {
  const auto now = Clock::now();
  const auto& runs = watched.runs();
  if (runs.empty() || watched.any(RunPhase::training)) {
    idle_since = now;
    return false;
  }
  return (watched.all_done() && runs.size() == 1 && runs[0].path() == options.run) ||
         Seconds(now - idle_since).count() >= options.wait;
}

/// Throws std::invalid_argument if the path exists and is not a directory.
void require_possible_directory(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  demand(!std::filesystem::exists(status) || std::filesystem::is_directory(status),
         "{}: not a directory; give the directory of a run or of a sweep", path);
}

void print_waiting(FileStorage& storage, const WatchedRuns& watched, const std::string& path) {
  if (watched.runs().empty() && is_sweep(storage, path))
    fmt::print(stderr, "waiting  the sweep in {} has no run yet\n", printable(path));
  else if (watched.runs().empty())
    fmt::print(stderr, "waiting  {} does not exist yet\n", printable(path));
  else if (!watched.any(RunPhase::training) && !watched.all_done())
    fmt::print(stderr, "waiting  no run in {} is training\n", printable(path));
}

int watch_command(const WatchOptions& options, SignalGuard& signals) {
  require_possible_directory(options.run);
  PosixStorage storage;
  WatchedRuns watched(storage, options.run);
  const ProgressMode mode = progress_mode(options.progress);
  LinesInPlace lines;
  WatchedPage page(options);
  Clock::time_point idle_since = Clock::now();
  for (bool first = true;; first = false) {
    if (watched.refresh()) {
      show(watched, mode, lines);
      page.note_news();
    }
    if (first) print_waiting(storage, watched, options.run);
    if (has_ended(options, watched, idle_since)) break;
    page.write_if_due(watched.runs());
    if (!sleep_for(options.every, signals)) break;
  }
  page.write_last(watched.runs());
  return signals.stop_requested() ? 128 + signals.asked_by() : exit_done;
}

struct CompareOptions {
  std::vector<std::string> runs;
  std::string output;
  std::optional<double> goal;
  bool json = false;
};

/// Reads the named runs and those in named folders, each once.
std::deque<RunView> views_of(FileStorage& storage, const std::vector<std::string>& names) {
  std::deque<RunView> views;
  std::set<Path> seen;
  for (const std::string& name : names) {
    const std::vector<Path> found = runs_in(storage, name);
    demand(!found.empty(),
           "{}: neither a run (config.toml is missing) nor a folder of runs; give the directory of "
           "a run or of a sweep",
           name);
    for (const Path& path : found)
      if (seen.insert(std::filesystem::canonical(path)).second)
        views.emplace_back(storage, path).refresh();
  }
  return views;
}

void compare_command(const CompareOptions& options) {
  demand(!options.goal || std::isfinite(*options.goal), "--to {}: must be a finite loss",
         options.goal.value_or(0));
  const bool is_page_only = options.output == "-";
  demand(!is_page_only || !options.json,
         "--output - and --json both write to standard output; remove one");
  PosixStorage storage;
  const std::deque<RunView> runs = views_of(storage, options.runs);
  const Comparison comparison(runs, options.goal);
  for (const std::string& note : comparison.notes())
    fmt::print(stderr, "note     {}\n", printable(note));
  if (!is_page_only) fmt::print("{}", options.json ? comparison.json() : comparison.text());
  const std::string file =
      options.output.empty() && !options.json ? "compare.html" : options.output;
  if (file.empty()) return;
  const std::string html =
      comparison.page("Comparison of " + format_number_of(runs.size(), "run")).html();
  write_output(file, [&](const Sink& sink) { sink(html); });
  if (!options.json && !is_page_only) fmt::print("\npage     {}\n", printable(file));
}

}  // namespace

void add_watch(const Command& program) {
  const auto [command, options] = program.command(
      "watch", "follow runs in the terminal and on a page while they train", watch_command);
  add_run(command, options.run, "directory of a run or of a sweep; may not exist yet");
  command.option("--every", &options.every, "seconds between updates", "SECONDS")
      .between(shortest_period, longest_period)
      .shows_default();
  command.option("--wait", &options.wait, "end after this many seconds without training", "SECONDS")
      .between(0, longest_period)
      .shows_default();
  command.option("--output,-o", &options.output, "page (default: watch.html in the directory)",
                 "FILE");
  command.option("--page-every", &options.page_every, "seconds between pages", "SECONDS")
      .between(shortest_period, longest_period)
      .shows_default();
  command.option("--progress", &options.progress,
                 "bar (a table in place), plain (lines) or none; auto: in place on a terminal",
                 "MODE");
}

void add_compare(const Command& program) {
  const auto [command, options] = program.command(
      "compare", "compare runs: curves, results over seeds, config differences", compare_command);
  command.option("runs", &options.runs, "directories of runs, or of sweeps", "RUN").required();
  command.option(
      "--to", &options.goal,
      "validation loss for the time to reach it (default: the lowest that all runs reach)", "LOSS");
  command.option("--output,-o", &options.output, "page (default: compare.html, none with --json)",
                 "FILE");
  command.flag("--json", &options.json, "print JSON lines");
}

}  // namespace bochner
