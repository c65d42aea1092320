#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bochner {

/// Names of what a folder holds, in order; the empty path is the current one. Throws
/// std::system_error, and std::bad_alloc where memory ends: there the iterators of libstdc++ 12 end
/// the program.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace bochner
