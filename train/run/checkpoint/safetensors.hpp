#pragma once
/// Files of weights for other programs, and back: the safetensors format. Layout: u64 length of a
/// JSON header (name -> dtype, shape, data_offsets), the header padded with blanks to 8 bytes, then
/// the data without gaps.

#include <bochner/data/files/gzip.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>
#include <map>

namespace bochner {

class Json;

/// Texts of the header, beside the tensors.
using SafetensorsTexts = std::vector<std::pair<std::string, std::string>>;

/// What tells of the run that weights are of: "config", "step", "tokens" and "examples".
SafetensorsTexts texts_of(const CheckpointReader& checkpoint);

/// Tensors sorted by name; equal tensors and texts give equal files. Throws std::invalid_argument
/// where two have one name.
void write_safetensors(const Sink& sink, std::vector<TensorRecord> tensors,
                       const SafetensorsTexts& texts = {});

/// The tensors in the bytes of such a file, which must outlive it. Throws DataError where the
/// header is none, or claims what the bytes cannot hold, before anything is allocated for a tensor,
/// and where tensors overlap or leave bytes out.
class Safetensors {
 public:
  Safetensors(ByteSpan file, std::string name);

  /// "" where there is none.
  std::string text(const std::string& key) const;
  /// Numbers of single or double precision into a tensor of the same shape; what is wrong with them
  /// otherwise, "" when they are there.
  std::string copy_into(const std::string& name, Tensor& tensor) const;
  std::size_t size() const { return tensors_.size(); }

 private:
  struct Entry {
    Shape shape;
    bool wide;  ///< F64
    ByteSpan bytes;
  };
  /// Of the tensor that a value of the header describes; data are all behind it.
  Entry entry_of(const std::string& key, const Json& value, ByteSpan data) const;

  std::string name_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, Entry> tensors_;
};

}  // namespace bochner
