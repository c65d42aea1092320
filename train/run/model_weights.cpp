#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bochner/train/run/model_weights.hpp>
#include <bochner/train/storage/json.hpp>
#include <ranges>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::string safetensors_header(const std::vector<TensorRecord>& tensors) {
  Json header = {{"__metadata__", {{"format", "bochner"}}}};
  std::uint64_t offset = 0;
  for (const TensorRecord& tensor : tensors) {
    header.set(tensor.name, {{"dtype", dtype_of_real == Dtype::f32 ? "F32" : "F64"},
                             {"shape", Json::array(tensor.shape)},
                             {"data_offsets", Json::array({offset, offset + tensor.bytes()})}});
    offset += tensor.bytes();
  }
  std::string text = header.line();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

std::vector<std::string> load_tensors(const CheckpointReader& checkpoint,
                                      const std::vector<NamedTensor>& wanted) {
  std::vector<std::string> left_out;
  for (const NamedTensor& named : wanted) {
    const StoredTensor* found = checkpoint.find(named.name);
    if (!found)
      left_out.push_back(named.name + " is missing");
    else if (found->shape != named.tensor->shape())
      left_out.push_back(fmt::format("{} is {} there and {} here", named.name,
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
      checkpoint.path().string(), ": not of this model: ",
      fmt::format("{}", fmt::join(left_out | std::views::take(shown), ", ")),
      left_out.size() > shown ? fmt::format(" and {} more", left_out.size() - shown) : "",
      "; use the program and the config that wrote it");
}

void load_model(const CheckpointReader& checkpoint, Module& model, bool averaged) {
  const bool has_average = std::ranges::any_of(
      checkpoint.tensors(), [](const auto& tensor) { return tensor.name.starts_with("ema/"); });
  const std::string weights = averaged && has_average ? "ema/" : "model/";
  std::vector<NamedTensor> wanted;
  for (const NamedParameter& named : parameters_of(model))
    wanted.push_back({weights + named.name, &named.parameter->value()});
  for (const NamedTensor& named : buffers_of(model))
    wanted.push_back({"buffer/" + named.name, named.tensor});
  require_complete(checkpoint, load_tensors(checkpoint, wanted));
}

void write_safetensors(const Sink& sink, std::vector<TensorRecord> tensors) {
  std::ranges::sort(tensors, {}, &TensorRecord::name);
  const std::string header = safetensors_header(tensors);
  const std::uint64_t length = header.size();
  sink({reinterpret_cast<const char*>(&length), sizeof length});
  sink(header);
  for (const TensorRecord& tensor : tensors)
    sink({reinterpret_cast<const char*>(tensor.data), tensor.bytes()});
}

}  // namespace bochner::inline BOCHNER_PRECISION
