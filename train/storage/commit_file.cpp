#include <unistd.h>

#include <bochner/train/storage/commit_file.hpp>

namespace bochner {
namespace {

Path unused_temporary(FileStorage& storage, const Path& path) {
  const std::string stem = path.string() + "." + std::to_string(::getpid()) + ".";
  for (std::size_t attempt = 0;; ++attempt) {
    const Path candidate = stem + std::to_string(attempt) + temporary_suffix;
    if (!storage.exists(candidate)) return candidate;
  }
}

}  // namespace

void commit_file(FileStorage& storage, const Path& path,
                 const std::function<void(StoredFile&)>& write_body) {
  const Path temporary = unused_temporary(storage, path);
  auto file = storage.create_exclusive(temporary);
  try {
    write_body(*file);
    file->sync();
    file->close();
    storage.rename(temporary, path);
  } catch (...) {
    // The first error is the one to report; a temporary that stays is removed at the next opening.
    try {
      storage.unlink(temporary);
    } catch (...) {
    }
    throw;
  }
  storage.sync_directory(path.parent_path());
}

void commit_file(FileStorage& storage, const Path& path, const std::string& text) {
  commit_file(storage, path, [&](StoredFile& file) { file.append(text.data(), text.size()); });
}

void make_directories(FileStorage& storage, const Path& path) {
  if (path.empty() || storage.exists(path)) return;
  make_directories(storage, path.parent_path());
  storage.make_directory(path);
  storage.sync_directory(path.parent_path());
}

bool is_temporary_name(const std::string& name) { return name.ends_with(temporary_suffix); }

}  // namespace bochner
