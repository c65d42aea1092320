#pragma once
/// Paths of the running program, to start it again.

#include <bochner/base/system.hpp>
#include <filesystem>
#include <string>
#include <string_view>

extern "C" {
/// Digest of the sources of a program, which bochner_program() in CMake compiles into it.
extern const char bochner_program_sources[] __attribute__((weak));
}

namespace bochner {

/// Returns the digest of the sources that this program was built from; "" if it is not known.
inline const char* program_sources() {
  return &bochner_program_sources == nullptr ? "" : bochner_program_sources;
}

/// Returns where it was started, without the system's suffix for removed files.
inline std::string own_path() {
  std::string path = std::filesystem::read_symlink(this_program).string();
  constexpr std::string_view gone = " (deleted)";
  if (path.ends_with(gone)) path.resize(path.size() - gone.size());
  return path;
}

}  // namespace bochner
