#pragma once
/// Checkpoints as older versions of this program wrote them.

#include <bochner/data/files/digest.hpp>
#include <bochner/train/run/checkpoint/checkpoint_file.hpp>
#include <cstring>
#include <string>

namespace bochner::faults {

/// A checkpoint with a trainer state of version 1 or 2; of version 1 one without digests, waiting
/// lines and marks.
inline std::string as_version(std::uint32_t version, std::string file) {
  namespace format = checkpoint_format;
  // Of version 2 the lines of a digest are younger; of version 1 two empty containers and a number.
  const std::uint64_t younger = (version == 1 ? 4 : 1) * sizeof(std::uint64_t);
  auto* start = reinterpret_cast<format::FileHeader*>(file.data());
  auto* sections = reinterpret_cast<format::SectionEntry*>(start + 1);
  format::SectionEntry& state = sections[format::state];
  char* bytes = file.data() + state.offset;
  const std::uint64_t end = state.offset + format::padded(state.bytes);
  state.bytes -= younger;
  std::memcpy(bytes, &version, sizeof version);
  std::memset(bytes + state.bytes, 0, younger);
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
