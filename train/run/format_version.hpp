#pragma once
/// Version of a run's files: its directory (`format` in meta.json), checkpoints and trainer states.
/// Every change of their bytes or meaning increments it.

#include <cstdint>

namespace bochner {

inline constexpr std::uint32_t format_version = 1;

/// Remedy for files without this version, which only builds before the first release wrote.
inline constexpr const char* pre_release_error =
    "written by a pre-release build; train anew, or export its weights with the build that wrote "
    "it";

}  // namespace bochner
