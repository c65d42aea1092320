#include <fmt/format.h>

#include <bochner/base/format.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/storage/json.hpp>

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

}  // namespace

void add_inspect(const Command& program) {
  const auto [command, options] =
      program.command("inspect", "print the contents of a checkpoint", inspect_command);
  add_run(command, options.run, "RUN, RUN@best, RUN@STEP or a checkpoint file");
  command.flag("--json", &options.json, "print JSON");
}

}  // namespace bochner
