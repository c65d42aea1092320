#include <fmt/format.h>

#include <bochner/train/charts/format.hpp>
#include <bochner/train/commands/commands.hpp>
#include <bochner/train/commands/exit_codes.hpp>
#include <bochner/train/run/run_reference.hpp>
#include <bochner/train/run/safetensors.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/storage/output.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

CheckpointReader open_run_or_file(FileStorage& storage, const std::string& text) {
  // A link that the user names is followed; inside of a run there are none.
  if (std::filesystem::is_regular_file(text))
    return CheckpointReader(storage, std::filesystem::is_symlink(text)
                                         ? Path(std::filesystem::canonical(text))
                                         : Path(text));
  std::vector<std::string> skipped;
  CheckpointReader checkpoint = open_checkpoint(storage, parse_run_reference(text), skipped);
  for (const std::string& note : skipped) fmt::print(stderr, "skipped {}\n", note);
  return checkpoint;
}

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
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    tensors.push(
        {{"name", tensor.name}, {"shape", Json::array(tensor.shape)}, {"bytes", tensor.bytes}});
  }
  fmt::print("{}", json.set("tensors", tensors).lines());
}

/// One line for the group, and one for each of its tensors if they are listed.
void print_group(const CheckpointReader& checkpoint, const std::string& group, bool listed) {
  std::vector<StoredTensor> tensors;
  std::uint64_t numbers = 0;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    if (group_of(tensor.name) != group) continue;
    tensors.push_back(tensor);
    numbers += element_count(tensor.shape);
  }
  if (tensors.empty()) return;
  fmt::print("{:<9} {} in {}\n", group, format_number_of(numbers, "number"),
             format_number_of(tensors.size(), "tensor"));
  for (std::size_t i = 0; listed && i < tensors.size(); ++i) {
    fmt::print("  {:<56} {}\n", tensors[i].name.substr(group.size() + 1),
               to_string(tensors[i].shape));
  }
}

void print_text(const CheckpointReader& checkpoint) {
  const TrainerState& state = checkpoint.state();
  fmt::print("file      {}   intact\n", checkpoint.path().string());
  fmt::print("step      {}   {} tokens, {} of training\n", state.step,
             format_count(double(state.tokens)), format_duration(state.wall_seconds));
  if (!state.best.empty())
    fmt::print("best      {:.4f} at step {}\n", state.best.front().metric, state.best.front().step);
  fmt::print("numerics  {}\n", state.numerics);
  print_group(checkpoint, "model", true);
  print_group(checkpoint, "buffer", true);
  for (const char* group : {"ema", "optimizer"}) print_group(checkpoint, group, false);
}

}  // namespace

int inspect_command(const std::string& run_or_file, bool json) {
  PosixStorage storage;
  const CheckpointReader checkpoint = open_run_or_file(storage, run_or_file);
  json ? print_json(checkpoint) : print_text(checkpoint);
  return exit_done;
}

int export_command(const std::string& run, const std::string& output, bool averaged) {
  PosixStorage storage;
  const CheckpointReader checkpoint = open_run_or_file(storage, run);
  const auto& stored = checkpoint.tensors();
  const bool has_average = std::any_of(stored.begin(), stored.end(), [](const auto& tensor) {
    return group_of(tensor.name) == "ema";
  });
  const std::string weights = averaged && has_average ? "ema/" : "model/";
  std::vector<Tensor> tensors;
  std::vector<TensorRecord> records;
  for (const StoredTensor& tensor : stored) {
    if (!tensor.name.starts_with(weights) && !tensor.name.starts_with("buffer/")) continue;
    tensors.push_back(checkpoint.load(tensor.name));
    records.push_back({tensor.name.substr(tensor.name.find('/') + 1), tensor.shape, nullptr});
  }
  for (std::size_t i = 0; i < records.size(); ++i) records[i].data = tensors[i].data();
  write_output(output, [&](const Sink& sink) { write_safetensors(sink, std::move(records)); });
  if (output != "-")
    fmt::print("{}   {} of step {}\n", output, format_number_of(tensors.size(), "tensor"),
               checkpoint.state().step);
  return exit_done;
}

}  // namespace bochner::inline BOCHNER_PRECISION
