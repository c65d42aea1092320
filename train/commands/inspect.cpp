#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/run/log/live_log.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/storage/output.hpp>
#include <limits>
#include <map>

namespace bochner {
namespace {

struct InspectOptions {
  std::string run;
  bool json = false;
};

std::string group_of(const std::string& name) { return name.substr(0, name.find('/')); }

void print_json(const CheckpointReader& checkpoint) {
  const TrainerState& state = checkpoint.state();
  Json json = {
      {"path", checkpoint.path().string()}, {"step", state.step}, {"tokens", state.tokens},
      {"examples", state.examples},         {"seed", state.seed}, {"numerics", state.numerics},
      {"wall_seconds", state.wall_seconds}};
  if (!state.best.empty())
    json.set("best", {{"step", state.best.front().step}, {"valid", state.best.front().metric}});
  Json tensors;
  for (const StoredTensor& tensor : checkpoint.tensors())
    tensors.push(
        {{"name", tensor.name},
         {"shape", Json::array(tensor.shape)},
         {"bytes", tensor.bytes},
         {"digest", fmt::format("{:016x}", digest_of_elements(checkpoint.load(tensor.name)))}});
  fmt::print("{}", json.set("tensors", tensors).lines());
}

/// Prints a line for the group and, if `listed`, one per tensor.
void print_group(const CheckpointReader& checkpoint, const std::string& group, bool listed) {
  std::string list;
  std::uint64_t tensors = 0, numbers = 0;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    if (group_of(tensor.name) != group) continue;
    ++tensors;
    numbers += element_count(tensor.shape);
    if (listed)
      list += fmt::format("  {:<56} {}\n", tensor.name.substr(group.size() + 1),
                          to_string(tensor.shape));
  }
  if (tensors > 0)
    fmt::print("{:<9} {} in {}\n{}", group, format_number_of(numbers, "number"),
               format_number_of(tensors, "tensor"), list);
}

void print_text(const CheckpointReader& checkpoint) {
  const TrainerState& state = checkpoint.state();
  fmt::print("file      {}   intact\n", printable(checkpoint.path().string()));
  fmt::print("step      {}   {} tokens, {} of training\n", state.step,
             format_count(double(state.tokens)), format_duration(state.wall_seconds));
  if (!state.best.empty())
    fmt::print("best      {:.4f} at step {}\n", state.best.front().metric, state.best.front().step);
  fmt::print("numerics  {}\n", printable(state.numerics));
  print_group(checkpoint, "model", true);
  print_group(checkpoint, "buffer", true);
  for (const char* group : {"ema", "optimizer"}) print_group(checkpoint, group, false);
}

void inspect_command(const InspectOptions& options) {
  const CheckpointReader checkpoint = open_run_or_file(options.run);
  options.json ? print_json(checkpoint) : print_text(checkpoint);
}

struct MetricsOptions {
  std::string run, output = "-";
};

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

void add_inspect(const Command& program) {
  const auto [command, options] =
      program.command("inspect", "print the contents of a checkpoint", inspect_command);
  add_run(command, options.run, "RUN, RUN@best, RUN@STEP or a checkpoint file");
  command.flag("--json", &options.json, "print JSON");
}

void add_metrics(const Command& program) {
  const auto [command, options] = program.command(
      "metrics", "print the metrics of a run as a table, one row per step", metrics_command);
  add_run(command, options.run, "directory of the run");
  command.option("--output,-o", &options.output, writable_names, "FILE").shows_default();
}

}  // namespace bochner
