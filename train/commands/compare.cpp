#include <fmt/format.h>

#include <bochner/base/text.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/compare/comparison.hpp>
#include <bochner/train/storage/output.hpp>
#include <set>

namespace bochner {
namespace {

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
