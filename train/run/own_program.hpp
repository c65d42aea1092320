#pragma once
/// The program that runs, as what it starts.

#include <filesystem>
#include <string>
#include <string_view>

namespace bochner {

/// The path of a job that is this program itself, also where another has taken its name since.
inline constexpr const char* this_program = "/proc/self/exe";

/// Where it was started, without what the system adds where the file is gone.
inline std::string own_path() {
  std::string path = std::filesystem::read_symlink(this_program).string();
  constexpr std::string_view gone = " (deleted)";
  if (path.ends_with(gone)) path.resize(path.size() - gone.size());
  return path;
}

}  // namespace bochner
