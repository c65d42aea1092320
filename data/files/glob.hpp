#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bochner {

/// The regular files that the patterns name, each once, sorted by name. In a pattern, `*` stands
/// for any part of a name, `?` for one character and `**` for any number of folders; as in a
/// shell, they match no name that begins with a dot, and `**` follows no links. Relative patterns
/// start at `base`. Throws DataError for a folder or a pattern without a match, IoError for a path
/// that is not there or a folder that cannot be read.
std::vector<std::filesystem::path> expand_files(const std::vector<std::string>& patterns,
                                                const std::filesystem::path& base);

}  // namespace bochner
