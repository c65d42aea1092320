#include <algorithm>
#include <bochner/train/run/safetensors.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

std::string header_of(const std::vector<TensorRecord>& tensors) {
  Json header = {{"__metadata__", {{"format", "bochner"}}}};
  std::uint64_t offset = 0;
  for (const TensorRecord& tensor : tensors) {
    header.set(tensor.name, {{"dtype", sizeof(real) == 4 ? "F32" : "F64"},
                             {"shape", Json::array(tensor.shape)},
                             {"data_offsets", Json::array({offset, offset + tensor.bytes()})}});
    offset += tensor.bytes();
  }
  std::string text = header.line();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

void write_safetensors(const Sink& sink, std::vector<TensorRecord> tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  const std::string header = header_of(tensors);
  const std::uint64_t length = header.size();
  sink({reinterpret_cast<const char*>(&length), sizeof length});
  sink(header);
  for (const TensorRecord& tensor : tensors)
    sink({reinterpret_cast<const char*>(tensor.data), tensor.bytes()});
}

}  // namespace bochner::inline BOCHNER_PRECISION
