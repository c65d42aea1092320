#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bochner {

/// Lists the entries of a folder in alphabetical order; the empty path is the current folder.
/// Throws std::system_error, and std::bad_alloc without memory (where the iterators of libstdc++ 12
/// terminate).
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace bochner
