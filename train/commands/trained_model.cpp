#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/train/commands/loaded_run.hpp>
#include <bochner/train/commands/trained_model.hpp>
#include <bochner/train/run/checkpoint/safetensors.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/learner.hpp>

namespace bochner {

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
