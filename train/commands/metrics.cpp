#include <fmt/format.h>

#include <bochner/base/text.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/storage/output.hpp>
#include <limits>
#include <map>

namespace bochner {
namespace {

struct MetricsOptions {
  std::string run, output = "-";
};

/// Metrics by step and name.
struct StepTable {
  std::vector<std::string> names = {"step"};
  std::map<std::uint64_t, std::map<std::string, double>> rows = {};

  void add(const Json& line) {
    const auto step = line["step"].count();
    if (!step) return;
    auto& row = rows[*step];
    for (const auto& [name, value] : line.members()) {
      const auto number = value.number();
      if (!number) continue;
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      row[name] = *number;
    }
  }

  /// Adds the JSON lines of a file, whose last line may be incomplete.
  void add_lines(std::string_view text) {
    for_each_line(text, [&](std::string_view line, std::size_t) { add(Json::parse(line)); });
  }

  NamedArray table() const {
    NamedArray table{{}, names};
    table.values = xt::xarray<double>::from_shape({rows.size(), names.size()});
    table.values.fill(std::numeric_limits<double>::quiet_NaN());
    std::size_t at = 0;
    for (const auto& [step, row] : rows) {
      for (std::size_t i = 0; i < names.size(); ++i)
        if (const auto found = row.find(names[i]); found != row.end())
          table.values(at, i) = found->second;
      ++at;
    }
    return table;
  }
};

void metrics_command(const MetricsOptions& options) {
  PosixStorage storage;
  const RunDirectory run = RunDirectory::read(storage, options.run);
  StepTable numbers;
  for (const char* name : {metrics_name, clock_name})
    if (const Path file = run.path() / name; storage.exists(file))
      numbers.add_lines(read_file(storage, file));
  write_array(options.output, numbers.table());
}

}  // namespace

void add_metrics(const Command& program) {
  const auto [command, options] = program.command(
      "metrics", "print the metrics of a run as a table, one row per step", metrics_command);
  add_run(command, options.run, "directory of the run");
  command.option("--output,-o", &options.output, writable_names, "FILE").shows_default();
}

}  // namespace bochner
