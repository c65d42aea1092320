#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/commands/trained_model.hpp>
#include <bochner/train/run/checkpoint/model_weights.hpp>
#include <bochner/train/run/checkpoint/safetensors.hpp>
#include <bochner/train/run/instruments/drawn_posteriors.hpp>
#include <bochner/train/run/run_directory.hpp>
#include <bochner/train/run/version.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/train_spec.hpp>
#include <cstdio>
#include <filesystem>

namespace bochner {
namespace {

/// Opens a checkpoint and names the skipped ones on stderr.
CheckpointReader open_noted(FileStorage& storage, const std::string& reference) {
  std::vector<std::string> skipped;
  CheckpointReader checkpoint = open_checkpoint(storage, parse_run_reference(reference), skipped);
  for (const std::string& note : skipped) fmt::print(stderr, "skipped {}\n", printable(note));
  return checkpoint;
}

void note_numerics(const CheckpointReader& checkpoint) {
  const std::string difference = numerics_difference(checkpoint.state().numerics);
  if (!difference.empty())
    fmt::print(stderr, "note     {}; results may differ in the last bits\n", printable(difference));
}

}  // namespace

bool sets_data(const Config& config) {
  return std::ranges::any_of(config.table().rows(), [&](const ParameterRow& row) {
    return row.name.starts_with("data.") && config.is_set(row.name);
  });
}

LoadedRun load_run(const std::string& reference, const std::vector<std::string>& sets) {
  PosixStorage storage;
  CheckpointReader checkpoint = open_noted(storage, reference);
  const Path directory = parse_run_reference(reference).directory;
  const Config stored =
      with_own_tokenizer(stored_config(checkpoint.config(), checkpoint.path().string()), directory);
  Config config = with_sets(stored, sets);
  require_same_model(stored, config, directory.string());
  return {std::move(checkpoint), std::move(config)};
}

std::unique_ptr<Learner> initial_learner(const LoadedRun& run) {
  try {
    return make_learner(run.config, {run.checkpoint.facts()});
  } catch (const DataError& error) {
    throw DataError(run.checkpoint.path().string(), ": ", error.what());
  }
}

std::unique_ptr<Learner> load_learner(const LoadedRun& run, const ModelOptions& options,
                                      bool notes) {
  auto learner = initial_learner(run);
  load_model(run.checkpoint, learner->model(), !options.live_weights);
  if (notes) note_numerics(run.checkpoint);
  return learner;
}

void note_changed_data(const CheckpointReader& checkpoint, const Config& config,
                       const Dataset& data) {
  const TrainerState& state = checkpoint.state();
  if (state.data_fingerprint == not_recorded || sets_data(config)) return;
  const std::uint64_t marks = data.corpus() ? data.corpus()->marks() : 0;
  if (marks != 0 ? marks == state.data_marks : data.fingerprint() == state.data_fingerprint) return;
  const char* fact = marks != 0
                         ? "the files were changed or copied since training, and not compared"
                         : "the data differ from the training data";
  fmt::print(stderr, "note     {}: {}\n", fact,
             assignment(config, makes_tables(config) ? "data.source" : "data.files"));
}

HeldOut held_out_in(const Config& config, const Dataset& data) {
  const auto train = read_spec<TrainSpec>(config, "train");
  return held_out_examples(data, train.validation_batch(), train.validate_batches);
}

void note_verdict(const std::string& reference) {
  PosixStorage storage;
  const Path file = parse_run_reference(reference).directory / verdict_name;
  if (!storage.exists(file)) return;
  const Json verdict = Json::parse(read_file(storage, file));
  const std::string* words = verdict["words"].text();
  if (words && verdict["beats_naive"].flag() == false)
    fmt::print(stderr, "note     {} (step {})\n", printable(*words),
               verdict["step"].count().value_or(0));
}

LoadedTask load_task(const ModelOptions& options, const std::string& file) {
  auto [checkpoint, config] = load_run(options.run, options.sets);
  if (!file.empty()) config = with_sets(config, sets_of_other_data(config, file));
  auto task = make_task(config, {checkpoint.facts(), false, !file.empty()});
  load_model(checkpoint, task->model(), !options.live_weights);
  if (options.notes_changes) {
    note_numerics(checkpoint);
    note_changed_data(checkpoint, config, task->data());
  }
  return {std::move(checkpoint), std::move(config), std::move(task)};
}

void require_validation(const LoadedTask& loaded, const ModelOptions& options) {
  const bool sets = std::ranges::any_of(
      options.sets, [](const std::string& set) { return set.starts_with("data."); });
  require_examples(loaded.config, loaded.task->data(), Split::validation, sets ? "" : options.run);
}

CheckpointReader open_run_or_file(const std::string& text) {
  PosixStorage storage;
  // Follows a link that the user names; runs contain none.
  if (std::filesystem::is_regular_file(text))
    return CheckpointReader(storage, std::filesystem::is_symlink(text)
                                         ? Path(std::filesystem::canonical(text))
                                         : Path(text));
  return open_noted(storage, text);
}

void require_posterior(const DrawnPosteriors& posteriors, std::size_t draws) {
  demand(draws == 0 || posteriors.are_drawn(),
         "--draws: this run has no posterior; train one with "
         "model.mixer.density.posterior = \"mean_field\"");
}

std::shared_ptr<Module> trained_module(const std::string& run) {
  const std::shared_ptr<Learner> learner = load_learner(load_run(run), {.run = run});
  return {learner, &learner->model()};
}

void write_tensors(const std::string& file, const std::vector<NamedTensor>& tensors) {
  std::vector<TensorRecord> records;
  for (const NamedTensor& named : tensors) {
    require(is_valid_tensor_name(named.name), "write_tensors", "invalid tensor name '", named.name,
            "'; use letters, digits and ._/-, at most ", max_tensor_name_bytes);
    records.push_back({named.name, named.tensor->shape(), named.tensor->data()});
  }
  write_output(file, [&](const Sink& sink) { write_safetensors(sink, std::move(records)); });
}

void read_tensors(const std::string& file, const std::vector<NamedTensor>& tensors) {
  const Input input(file, std::uint64_t(1) << 40);
  const Safetensors stored(input.bytes(), input.name());
  std::vector<Tensor> values;
  std::vector<std::string> problems;
  for (const NamedTensor& named : tensors) {
    values.push_back(uninitialized(named.tensor->shape()));
    std::string problem = stored.copy_into(named.name, values.back());
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  if (!problems.empty()) throw DataError(input.name(), ": ", some_of(problems));
  for (std::size_t i = 0; i < tensors.size(); ++i) *tensors[i].tensor = std::move(values[i]);
}

}  // namespace bochner
