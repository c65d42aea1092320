#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bochner {

/// Lists the entries of a folder in alphabetical order; the empty path is the current folder.
/// Throws std::system_error, and std::bad_alloc without memory (where the iterators of libstdc++ 12
/// terminate).
std::vector<std::string> names_in(const std::filesystem::path& folder);

/// Returns the regular files that match the patterns, each once, sorted by name. `*` matches any
/// part of a name, `?` one character, `**` any number of folders; as in a shell they match no name
/// that begins with a dot, and `**` follows no links. Relative patterns start at `base`. Throws
/// DataError for a folder or a pattern without a match, IoError for one missing or unreadable.
std::vector<std::filesystem::path> expand_files(const std::vector<std::string>& patterns,
                                                const std::filesystem::path& base);

}  // namespace bochner
