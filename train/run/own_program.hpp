#pragma once
/// Paths of the running program, to start it again.

#include <filesystem>
#include <string>
#include <string_view>

namespace bochner {

/// Path that starts this program itself, even if another file has taken its name.
inline constexpr const char* this_program = "/proc/self/exe";

/// Returns where it was started, without the system's suffix for removed files.
inline std::string own_path() {
  std::string path = std::filesystem::read_symlink(this_program).string();
  constexpr std::string_view gone = " (deleted)";
  if (path.ends_with(gone)) path.resize(path.size() - gone.size());
  return path;
}

}  // namespace bochner
