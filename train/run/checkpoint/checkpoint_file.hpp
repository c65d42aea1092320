#pragma once
/// Checkpoint files: one per checkpoint, written from memory, read with every size checked first.

#include <bit>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/ceil_div.hpp>
#include <bochner/train/run/checkpoint/trainer_state.hpp>
#include <bochner/train/run/run_files.hpp>
#include <bochner/train/storage/storage.hpp>
#include <optional>
#include <span>

namespace bochner {

static_assert(std::endian::native == std::endian::little, "checkpoints are little endian");

/// Element type of a stored tensor; `packed` is a matrix in few bytes, see packed_matrix.hpp.
enum class Dtype : std::uint16_t { f32 = 1, f64 = 2, packed = 4 };
inline constexpr Dtype dtype_of_real = sizeof(real) == 4 ? Dtype::f32 : Dtype::f64;

/// Prefixes of parameters, buffers and optimizer state; averages have that of WeightAverage.
inline constexpr const char *model_prefix = "model/", *buffer_prefix = "buffer/",
                            *optimizer_prefix = "optimizer/";
inline bool is_of_optimizer(const std::string& name) { return name.starts_with(optimizer_prefix); }
/// Whether a tensor, in memory or in a file, is a parameter or a buffer.
inline constexpr auto is_of_model = [](const auto& tensor) {
  return tensor.name.starts_with(model_prefix) || tensor.name.starts_with(buffer_prefix);
};
inline constexpr auto is_moment = [](const auto& tensor) { return is_of_optimizer(tensor.name); };

namespace checkpoint_format {

/// Builds before the first release wrote pre_release_magic, also with version 1.
inline constexpr char magic[8] = {'b', 'o', 'c', 'h', 'n', 'e', 'r', '1'},
                      pre_release_magic[8] = {'b', 'o', 'c', 'h', 'n', 'e', 'r', '\n'};
inline constexpr std::uint32_t version = format_version;
inline constexpr std::uint64_t alignment = 64;
inline constexpr std::size_t max_rank = 8;

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t section_count;
  std::uint64_t header_bytes;
  std::uint64_t file_bytes;
};

struct SectionEntry {
  char name[8];  ///< padded with zeros
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t digest;
};

struct TensorEntry {
  std::uint32_t rank;
  std::uint16_t dtype;
  std::uint16_t name_bytes;
  std::uint64_t dims[max_rank];  ///< zero beyond the rank
  std::uint64_t offset;          ///< from the start of the section "tensors"
  std::uint64_t bytes;
};

static_assert(sizeof(FileHeader) == 32 && sizeof(SectionEntry) == 32 && sizeof(TensorEntry) == 88);

enum SectionIndex : std::size_t { config, state, facts, table, tensors, section_count };
inline constexpr char section_names[section_count][8] = {"config", "state", "facts", "table",
                                                         "tensors"};

constexpr std::uint64_t padded(std::uint64_t bytes) { return round_up(bytes, alignment); }

inline constexpr std::uint64_t digest_bytes = sizeof(std::uint64_t);
inline constexpr std::uint64_t header_bytes =
    padded(sizeof(FileHeader) + section_count * sizeof(SectionEntry) + digest_bytes);

}  // namespace checkpoint_format

/// Returns the bytes of a tensor, or nothing if the product exceeds 63 bits.
constexpr std::optional<std::uint64_t> checked_bytes(std::span<const std::uint64_t> dims,
                                                     std::uint64_t bytes_per_element) {
  std::uint64_t bytes = bytes_per_element;
  for (const std::uint64_t size : dims)
    if (__builtin_mul_overflow(bytes, size, &bytes) || bytes >> 63 != 0) return std::nullopt;
  return bytes;
}
/// Returns the same, or nothing if the dtype is unknown; for packed ones, their size in f32.
constexpr std::optional<std::uint64_t> checked_bytes(std::span<const std::uint64_t> dims,
                                                     Dtype dtype) {
  if (dtype != Dtype::f32 && dtype != Dtype::f64 && dtype != Dtype::packed) return std::nullopt;
  return checked_bytes(dims, dtype == Dtype::f64 ? 8 : 4);
}

/// A tensor to be written; the data are borrowed.
struct TensorRecord {
  std::string name;  ///< [A-Za-z0-9._/-], at most 256 bytes, unique
  Shape shape;       ///< rank 8 at most
  const real* data;
  std::string packed = {};  ///< replaces the data, unless empty

  std::uint64_t bytes() const {
    return packed.empty() ? element_count(shape) * sizeof(real) : packed.size();
  }
};

struct CheckpointContent {
  std::string config;
  std::vector<TensorRecord> tensors;
  TrainerState state;
  std::string facts = {};  ///< encode_facts() of the learner
};

std::string encode_state(const TrainerState& state);
/// Appends the content; equal content gives equal bytes. Throws std::invalid_argument for a bad
/// name or rank and IoError from the file.
void write_checkpoint(StoredFile& file, const CheckpointContent& content);

struct StoredTensor {
  std::string name;
  Shape shape;
  Dtype dtype;
  std::uint64_t offset;  ///< from the start of the file
  std::uint64_t bytes;
};

/// Open checkpoint. The constructor checks the whole file in bounded memory and allocates no tensor
/// before. Throws DataError "PATH: what is wrong (byte OFFSET)", IoError when unreadable.
class CheckpointReader {
 public:
  CheckpointReader(FileStorage& storage, const Path& path);

  const Path& path() const { return path_; }
  const std::string& config() const { return config_; }
  const TrainerState& state() const { return state_; }
  const std::string& facts() const { return facts_; }
  /// Returns all tensors in the order of writing.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// Returns nullptr if there is no such tensor.
  const StoredTensor* find(const std::string& name) const;
  /// Throws DataError if there is no such tensor.
  const StoredTensor& tensor(const std::string& name) const;
  /// Loads a tensor. Throws DataError if it was saved in another precision.
  Tensor load(const std::string& name) const;
  /// Fills a tensor, which must have the saved shape.
  void load_into(const std::string& name, Tensor& tensor) const;

 private:
  template <class... Parts>
  [[noreturn]] void fail(std::uint64_t offset, const Parts&... problem) const {
    throw DataError(path_.string(), ": ", problem..., " (byte ", offset, ")");
  }
  void check_start() const;
  void read_sections();
  void check_sections() const;
  void check_digests() const;
  void parse_state(const std::string& bytes);
  void parse_table(const std::string& bytes);
  StoredTensor parse_entry(const std::string& bytes, std::uint64_t& position,
                           std::uint64_t& data_position) const;
  std::string section_bytes(std::size_t index) const;
  void unpack_into(const StoredTensor& stored, Tensor& tensor) const;

  Path path_;
  std::unique_ptr<StoredFile> file_;
  std::uint64_t file_bytes_ = 0;
  checkpoint_format::SectionEntry sections_[checkpoint_format::section_count];
  std::string config_;
  TrainerState state_;
  std::string facts_;
  std::vector<StoredTensor> tensors_;
};

}  // namespace bochner
