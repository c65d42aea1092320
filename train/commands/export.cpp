#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/format.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/run/model_weights.hpp>
#include <bochner/train/storage/output.hpp>
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

void export_command(const ExportOptions& options) {
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

}  // namespace

void add_export(const Command& program) {
  const auto [command, options] =
      program.command("export", "weights as a safetensors file", export_command);
  add_run(command, options.run, "RUN, RUN@best, RUN@STEP or a checkpoint file");
  command.option("--output,-o", &options.output, "file to write; - for standard output", "FILE")
      .required();
  add_weights(command, options.live_weights);
}

}  // namespace bochner::inline BOCHNER_PRECISION
