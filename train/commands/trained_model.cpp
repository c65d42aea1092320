#include <algorithm>
#include <bochner/autodiff/joined.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/input.hpp>
#include <bochner/layers/models/token_models.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/commands/trained_model.hpp>
#include <bochner/train/run/safetensors.hpp>
#include <bochner/train/tasks/task.hpp>
#include <set>

namespace bochner::inline BOCHNER_PRECISION {

std::shared_ptr<Module> trained_module(const std::string& run) {
  LoadedRun loaded = load_run(run);
  const Config& config = loaded.config;
  if (config.text("model.kind") == "lm" && config.text("data.kind") == "bytes")
    return load_language_model(loaded, false);
  ModelOptions options;
  options.run = run;
  const std::shared_ptr<Task> task = load_task(options).task;
  return {task, &task->model()};
}

void write_tensors(const std::string& file, const std::vector<NamedTensor>& tensors) {
  std::vector<TensorRecord> records;
  std::set<std::string> names;
  for (const NamedTensor& named : tensors) {
    require(names.insert(named.name).second, "write_tensors", "two tensors are named ", named.name);
    records.push_back({named.name, named.tensor->shape(), named.tensor->data()});
  }
  PosixStorage storage;
  commit_file(storage, file, [&](StoredFile& out) {
    write_safetensors([&](std::string_view part) { out.append(part.data(), part.size()); },
                      std::move(records));
  });
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

}  // namespace bochner::inline BOCHNER_PRECISION
