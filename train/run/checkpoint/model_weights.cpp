#include <fmt/format.h>

#include <bochner/base/join.hpp>
#include <bochner/optim/ema.hpp>
#include <bochner/train/run/checkpoint/model_weights.hpp>
#include <ranges>

namespace bochner {

std::vector<NamedTensor> model_tensors(Module& model, const std::string& weights) {
  std::vector<NamedTensor> all;
  for (const NamedParameter& named : parameters_of(model))
    all.push_back({weights + named.name, &named.parameter->value()});
  for (const NamedTensor& named : buffers_of(model))
    all.push_back({buffer_prefix + named.name, named.tensor});
  return all;
}

std::vector<TensorRecord> records_of(const std::vector<NamedTensor>& tensors) {
  std::vector<TensorRecord> records;
  for (const auto& [name, tensor] : tensors)
    records.push_back({name, tensor->shape(), tensor->data()});
  return records;
}

std::vector<std::string> load_tensors(const CheckpointReader& checkpoint,
                                      const std::vector<NamedTensor>& wanted) {
  std::vector<std::string> left_out;
  for (const NamedTensor& named : wanted) {
    const StoredTensor* found = checkpoint.find(named.name);
    if (!found)
      left_out.push_back(named.name + " is missing");
    else if (found->shape != named.tensor->shape())
      left_out.push_back(fmt::format("{} is {} in the file and {} in the model", named.name,
                                     to_string(found->shape), to_string(named.tensor->shape())));
    else
      checkpoint.load_into(named.name, *named.tensor);
  }
  return left_out;
}

void require_complete(const CheckpointReader& checkpoint,
                      const std::vector<std::string>& left_out) {
  if (left_out.empty()) return;
  constexpr std::size_t shown = 4;
  throw DataError(
      checkpoint.path().string(),
      ": does not match the model: ", joined(left_out | std::views::take(shown)),
      left_out.size() > shown ? fmt::format(" and {} more", left_out.size() - shown) : "",
      "; use the program and the config that wrote it");
}

std::string prefix_of_weights(const CheckpointReader& checkpoint, bool averaged) {
  const bool has_average = std::ranges::any_of(checkpoint.tensors(), [](const auto& tensor) {
    return tensor.name.starts_with(WeightAverage::prefix);
  });
  return averaged && has_average ? WeightAverage::prefix : model_prefix;
}

void load_buffers(const CheckpointReader& checkpoint, Module& model) {
  std::vector<NamedTensor> wanted;
  for (const NamedTensor& named : buffers_of(model))
    wanted.push_back({buffer_prefix + named.name, named.tensor});
  require_complete(checkpoint, load_tensors(checkpoint, wanted));
}

void load_model(const CheckpointReader& checkpoint, Module& model, bool averaged) {
  const std::string weights = prefix_of_weights(checkpoint, averaged);
  require_complete(checkpoint, load_tensors(checkpoint, model_tensors(model, weights)));
}

}  // namespace bochner
