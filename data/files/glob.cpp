#include <dirent.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <cerrno>
#include <memory>
#include <new>
#include <set>
#include <system_error>

namespace bochner {
namespace {

namespace fs = std::filesystem;

bool has_wildcard(std::string_view text) { return text.find_first_of("*?") != text.npos; }

bool matches_name(std::string_view pattern, std::string_view name) {
  return (name.front() != '.' || pattern.front() == '.') && matches(pattern, name);
}

std::vector<std::string> entries(const fs::path& folder) {
  try {
    return names_in(folder);
  } catch (const std::system_error& error) {
    throw IoError("cannot list folder ", folder.string(), ": ", error.code().message());
  }
}

/// Splits a pattern: "a/**" -> {"a", "**", "*"}. After `**` comes another part, never `**` again.
std::vector<std::string> split(const std::string& pattern) {
  std::vector<std::string> parts;
  for (const fs::path& part : fs::path(pattern)) {
    if (part.empty() || part == "." || (part == "**" && !parts.empty() && parts.back() == "**"))
      continue;
    parts.push_back(part.string());
  }
  if (!parts.empty() && parts.back() == "**") parts.push_back("*");
  return parts;
}

/// Returns the status of a path. Throws IoError unless it is known: only missing paths are skipped.
fs::file_status examine(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path.empty() ? "." : path, error);
  if (!fs::status_known(status))
    throw IoError("cannot open ", path.string(), ": ", error.message());
  return status;
}

bool is_entered(const fs::path& path) {
  std::error_code error;
  return path.filename().native().front() != '.' &&
         fs::is_directory(fs::symlink_status(path, error));
}

/// Walks the folders along one pattern.
struct Search {
  std::vector<std::string> parts;
  std::vector<fs::path> found;

  void walk(const fs::path& path, std::size_t depth) {
    if (depth == parts.size()) {
      if (fs::is_regular_file(examine(path))) found.push_back(path);
    } else if (!has_wildcard(parts[depth])) {
      walk(path / parts[depth], depth + 1);
    } else if (fs::is_directory(examine(path))) {
      const bool any_depth = parts[depth] == "**";
      if (any_depth) walk(path, depth + 1);
      for (const std::string& name : entries(path)) {
        if (any_depth ? is_entered(path / name) : matches_name(parts[depth], name))
          walk(path / name, any_depth ? depth : depth + 1);
      }
    }
  }
};

fs::path plain_path(const std::string& pattern, const fs::path& base) {
  fs::path path = base;
  for (const std::string& part : split(pattern)) path /= part;
  const fs::file_status status = examine(path);
  if (!fs::exists(status)) throw IoError("cannot open ", path.string(), ": no such file");
  if (fs::is_directory(status))
    throw DataError(path.empty() ? "." : path.string(),
                    " is a folder; to read all files under it write \"",
                    (fs::path(pattern) / "**").string(), "\"");
  if (!fs::is_regular_file(status)) throw DataError(path.string(), " is not a regular file");
  return path;
}

std::vector<fs::path> expand(const std::string& pattern, const fs::path& base) {
  if (!has_wildcard(pattern)) return {plain_path(pattern, base)};
  Search search{split(pattern), {}};
  search.walk(base, 0);
  if (search.found.empty())
    throw DataError("\"", pattern, "\" matches no file in ",
                    (fs::current_path() / base).lexically_normal().string(),
                    "; correct the pattern, or write ** for folders at any depth");
  return search.found;
}

[[noreturn]] void throw_system_error() {
  if (errno == ENOMEM) throw std::bad_alloc();
  throw std::system_error(errno, std::generic_category());
}

struct Close {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

}  // namespace

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  const std::unique_ptr<DIR, Close> stream(::opendir(folder.empty() ? "." : folder.c_str()));
  if (!stream) throw_system_error();
  std::vector<std::string> names;
  const auto next = [&] {
    errno = 0;
    return ::readdir(stream.get());
  };
  while (const dirent* entry = next()) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) throw_system_error();
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<fs::path> expand_files(const std::vector<std::string>& patterns, const fs::path& base) {
  if (patterns.empty()) throw DataError("no data files are named; name a file or a pattern");
  std::set<std::string> names;
  for (const std::string& pattern : patterns)
    for (const fs::path& path : expand(pattern, base == "." ? fs::path() : base))
      names.insert(path.native());
  std::set<fs::path> seen;
  std::vector<fs::path> files;
  for (const std::string& name : names)
    if (seen.insert(fs::canonical(name)).second) files.emplace_back(name);
  return files;
}

}  // namespace bochner
