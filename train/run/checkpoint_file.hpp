#pragma once
/// One file per checkpoint: written from content in memory, read with every size checked first.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/train/run/checkpoint_format.hpp>
#include <bochner/train/run/trainer_state.hpp>
#include <bochner/train/storage/storage.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// A tensor to be written; the data are borrowed.
struct TensorRecord {
  std::string name;  ///< [A-Za-z0-9._/-], at most 256 bytes, unique
  Shape shape;       ///< rank 8 at most
  const real* data;
};

struct CheckpointContent {
  std::string config;
  std::vector<TensorRecord> tensors;
  TrainerState state;
};

/// Appends the content; equal content gives equal bytes. Throws std::invalid_argument for a bad
/// name or rank and IoError from the file.
void write_checkpoint(StoredFile& file, const CheckpointContent& content);

/// Where a tensor lies in a file.
struct StoredTensor {
  std::string name;
  Shape shape;
  Dtype dtype;
  std::uint64_t offset;  ///< from the start of the file
  std::uint64_t bytes;
};

/// An open checkpoint. The constructor checks the whole file in bounded memory; nothing is
/// allocated for a tensor before. Throws DataError "PATH: what is wrong (byte OFFSET)", IoError
/// when unreadable.
class CheckpointReader {
 public:
  CheckpointReader(FileStorage& storage, const Path& path);

  const Path& path() const { return path_; }
  const std::string& config() const { return config_; }
  const TrainerState& state() const { return state_; }
  /// In the order of writing.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// Throws DataError when there is no such tensor.
  const StoredTensor& tensor(const std::string& name) const;
  /// A new tensor. Throws DataError when it was saved in another precision.
  Tensor load(const std::string& name) const;
  /// Fills a tensor, whose shape must be the saved one.
  void load_into(const std::string& name, Tensor& tensor) const;

 private:
  [[noreturn]] void fail(std::uint64_t offset, const std::string& problem) const;
  void check_start() const;
  void read_sections();
  void check_sections() const;
  void check_digests() const;
  void parse_state(const std::string& bytes);
  void parse_table(const std::string& bytes);
  StoredTensor parse_entry(const std::string& bytes, std::uint64_t& position,
                           std::uint64_t& data_position) const;
  void check_unique_names() const;
  std::string section_bytes(std::size_t index) const;
  void read_data(const StoredTensor& stored, real* data) const;

  Path path_;
  std::unique_ptr<StoredFile> file_;
  std::uint64_t file_bytes_ = 0;
  checkpoint_format::SectionEntry sections_[checkpoint_format::section_count];
  std::string config_;
  TrainerState state_;
  std::vector<StoredTensor> tensors_;
};

/// Whether a tensor may have this name in a file. Such a name is a label, never a path.
bool is_valid_tensor_name(const std::string& name);

}  // namespace bochner::inline BOCHNER_PRECISION
