#pragma once
/// Checkpoints in the format of older versions.

#include <bochner/data/files/digest.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>
#include <cstring>
#include <string>

namespace bochner::faults {

/// Returns a checkpoint with a trainer state of version 1 or 2; version 1 has no digests, waiting
/// lines and marks.
inline std::string as_version(std::uint32_t version, std::string file) {
  namespace format = checkpoint_format;
  // Newer than version 2: the lines of a digest; newer than version 1: two empty containers and a
  // number.
  const std::uint64_t newer = (version == 1 ? 4 : 1) * sizeof(std::uint64_t);
  auto* start = reinterpret_cast<format::FileHeader*>(file.data());
  auto* sections = reinterpret_cast<format::SectionEntry*>(start + 1);
  format::SectionEntry& state = sections[format::state];
  char* bytes = file.data() + state.offset;
  const std::uint64_t end = state.offset + format::padded(state.bytes);
  state.bytes -= newer;
  std::memcpy(bytes, &version, sizeof version);
  std::memset(bytes + state.bytes, 0, newer);
  state.digest = digest_of(bytes, format::padded(state.bytes));
  const std::uint64_t removed = end - state.offset - format::padded(state.bytes);
  for (std::size_t later = format::state + 1; later < format::section_count; ++later)
    sections[later].offset -= removed;
  start->file_bytes -= removed;
  const std::uint64_t digested = format::header_bytes - format::digest_bytes;
  const std::uint64_t digest = digest_of(file.data(), digested);
  std::memcpy(file.data() + digested, &digest, sizeof digest);
  return file.erase(end - removed, removed);
}

}  // namespace bochner::faults
