#pragma once
/// The version of what a run keeps on the disk: its directory (`format` in meta.json), its
/// checkpoints and the trainer states in them. Whatever changes their bytes or meaning raises it.

#include <cstdint>

namespace bochner {

inline constexpr std::uint32_t format_version = 1;

/// Ends the error for files without this version. Only builds before the first release wrote such.
inline constexpr const char* pre_release_error =
    "written by a pre-release build; train anew, or export its weights with the build that wrote "
    "it";

}  // namespace bochner
