#pragma once
/// The bytes of a checkpoint file, little endian, every part on a multiple of 64 bytes:
///   FileHeader, section_count x SectionEntry, zeros, digest of all these bytes,
///   then the sections "config" (text), "state" (cereal), "table" (TensorEntry and name, repeated)
///   and "tensors" (raw data). A section's digest includes the zeros up to the next one.

#include <bit>
#include <bochner/autodiff/real.hpp>
#include <cstdint>
#include <optional>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {

static_assert(std::endian::native == std::endian::little, "checkpoints are little endian");

/// What a tensor in a file is made of.
enum class Dtype : std::uint16_t { f32 = 1, f64 = 2 };
inline constexpr Dtype dtype_of_real = sizeof(real) == 4 ? Dtype::f32 : Dtype::f64;

namespace checkpoint_format {

inline constexpr char magic[8] = {'b', 'o', 'c', 'h', 'n', 'e', 'r', '\n'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::uint64_t alignment = 64;
inline constexpr std::size_t max_rank = 8;
inline constexpr std::size_t max_name_bytes = 256;

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t section_count;
  std::uint64_t header_bytes;
  std::uint64_t file_bytes;
};

struct SectionEntry {
  char name[8];  ///< filled up with zeros
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

enum SectionIndex : std::size_t { config, state, table, tensors, section_count };
inline constexpr char section_names[section_count][8] = {"config", "state", "table", "tensors"};

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

inline constexpr std::uint64_t digest_bytes = sizeof(std::uint64_t);
inline constexpr std::uint64_t header_bytes =
    padded(sizeof(FileHeader) + section_count * sizeof(SectionEntry) + digest_bytes);

}  // namespace checkpoint_format

/// Bytes of a tensor, or nothing when the dtype is unknown or the product does not fit in 63 bits.
constexpr std::optional<std::uint64_t> checked_bytes(std::span<const std::uint64_t> dims,
                                                     Dtype dtype) {
  if (dtype != Dtype::f32 && dtype != Dtype::f64) return std::nullopt;
  std::uint64_t bytes = dtype == Dtype::f32 ? 4 : 8;
  for (const std::uint64_t size : dims) {
    if (__builtin_mul_overflow(bytes, size, &bytes) || bytes >> 63 != 0) return std::nullopt;
  }
  return bytes;
}

}  // namespace bochner::inline BOCHNER_PRECISION
