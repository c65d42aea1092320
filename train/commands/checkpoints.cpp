#include <fmt/format.h>

#include <algorithm>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/files/text.hpp>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/model_weights.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/storage/output.hpp>
#include <cstring>
#include <deque>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct ExportOptions {
  std::string run, output;
  bool live_weights = false;
};

/// What the names of the wanted weights begin with.
std::string wanted_weights(const CheckpointReader& checkpoint, bool live_weights) {
  const bool has_average = std::ranges::any_of(
      checkpoint.tensors(), [](const auto& tensor) { return tensor.name.starts_with("ema/"); });
  return has_average && !live_weights ? "ema/" : "model/";
}

/// A name that promises another format is a mistake.
void require_safetensors(const std::string& output) {
  demand(!output.empty(), "--output: must name a file, or - for standard output");
  for (const char* other : {".npz", ".npy", ".csv", ".json", ".pt", ".pth", ".onnx", ".h5"})
    demand(!output.ends_with(other),
           "{0}: export writes a safetensors file; name it {1}.safetensors", output,
           output.substr(0, output.size() - std::strlen(other)));
}

void export_command(const ExportOptions& options) {
  require_safetensors(options.output);
  const CheckpointReader checkpoint = open_run_or_file(options.run);
  const std::string weights = wanted_weights(checkpoint, options.live_weights);
  std::deque<Tensor> tensors;
  std::vector<TensorRecord> records;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    if (!tensor.name.starts_with(weights) && !tensor.name.starts_with("buffer/")) continue;
    tensors.push_back(checkpoint.load(tensor.name));
    records.push_back(
        {tensor.name.substr(tensor.name.find('/') + 1), tensor.shape, tensors.back().data()});
  }
  write_output(options.output,
               [&](const Sink& sink) { write_safetensors(sink, std::move(records)); });
  if (options.output != "-")
    fmt::print("{}   {} of step {}\n", options.output, format_number_of(tensors.size(), "tensor"),
               checkpoint.state().step);
}

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

/// One line for the group, and one for each of its tensors if they are listed.
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
      program.command("inspect", "what a checkpoint holds", inspect_command);
  add_run(command, options.run, "RUN, RUN@best, RUN@STEP or a checkpoint file");
  command.flag("--json", &options.json, "print JSON");
}

void add_export(const Command& program) {
  const auto [command, options] =
      program.command("export", "weights as a safetensors file", export_command);
  add_run(command, options.run, "RUN, RUN@best, RUN@STEP or a checkpoint file");
  command.option("--output,-o", &options.output, "file to write; - for standard output", "FILE")
      .required();
  add_weights(command, options.live_weights);
}

}  // namespace bochner::inline BOCHNER_PRECISION
