#pragma once
/// Safetensors files for other programs: u64 length of a JSON header (name -> dtype, shape,
/// data_offsets), the header padded with blanks to 8 bytes, then the data without gaps.

#include <bochner/data/files/gzip.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>

namespace bochner {

class Json;

using SafetensorsTexts = std::vector<std::pair<std::string, std::string>>;

/// Describes the run: "config", "facts" in hexadecimal digits, "step", "tokens", "examples".
SafetensorsTexts texts_of(const CheckpointReader& checkpoint);

/// Returns the float types of the format that are read and written: F16, BF16, F32, F64.
std::vector<std::string> safetensors_types();
inline constexpr const char* type_of_real = sizeof(real) == 4 ? "F32" : "F64";

/// Writes tensors sorted by name; equal tensors and texts give equal files. Throws
/// std::invalid_argument if two tensors have one name or the type cannot hold a number.
void write_safetensors(const Sink& sink, std::vector<TensorRecord> tensors,
                       const SafetensorsTexts& texts = {}, const std::string& type = type_of_real);

/// Tensors in the bytes of a safetensors file, which must outlive this. Throws DataError, before a
/// tensor is allocated, if the header is invalid or tensors exceed the file, overlap or leave gaps.
class Safetensors {
 public:
  Safetensors(ByteSpan file, std::string name);

  /// Returns a text of the header; "" if there is none.
  std::string text(const std::string& key) const;
  /// Copies numbers of any float type into a tensor of the same shape. Returns the problem, "" for
  /// none.
  std::string copy_into(const std::string& name, Tensor& tensor) const;
  std::size_t size() const { return tensors_.size(); }

 private:
  struct Entry {
    Shape shape;
    std::string type;  ///< "F16", "BF16", "F32" or "F64"
    ByteSpan bytes;
  };
  /// Returns the tensor that a header value describes; `data` is everything after the header.
  Entry entry_of(const std::string& key, const Json& value, ByteSpan data) const;

  std::string name_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, Entry> tensors_;
};

}  // namespace bochner
