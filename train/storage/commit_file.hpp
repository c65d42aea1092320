#pragma once
/// How a file gets its name: complete and on the disk first, and all at once.

#include <bochner/train/storage/storage.hpp>
#include <functional>

namespace bochner {

/// Writes a temporary file next to `path`, syncs it, renames it to `path` and syncs the directory.
/// When it returns, the file survives a power loss. When it throws, an older file of that name is
/// as it was, unless only the last sync failed: then the new one may or may not survive.
void commit_file(FileStorage& storage, const Path& path,
                 const std::function<void(StoredFile&)>& write_body);
void commit_file(FileStorage& storage, const Path& path, const std::string& text);

/// Makes the missing directories of the path; their names are on the disk when it returns.
void make_directories(FileStorage& storage, const Path& path);

/// What the names of files that may be removed after a crash end with.
inline constexpr const char* temporary_suffix = ".bochner-tmp";
bool is_temporary_name(const std::string& name);

}  // namespace bochner
