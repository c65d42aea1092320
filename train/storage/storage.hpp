#pragma once
/// Storage of persistent files, the only access to them, so that tests can fail or lose any write.

#include <bochner/base/errors.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

namespace bochner {

using Path = std::filesystem::path;

/// Another process uses the locked resource, or may since its lock was removed.
struct InUseError : IoError {
  using IoError::IoError;
};

/// Open file; closed when destroyed. Every method throws IoError.
class StoredFile {
 public:
  virtual ~StoredFile() = default;
  virtual void append(const void* data, std::size_t bytes) = 0;
  /// Fills all of `data`; throws if the file ends earlier.
  virtual void read_at(std::uint64_t offset, void* data, std::size_t bytes) = 0;
  virtual std::uint64_t size() = 0;
  virtual void truncate(std::uint64_t size) = 0;
  /// Whether its name refers to another file or none; a missing directory does not count.
  virtual bool is_replaced() = 0;
  /// Syncs the bytes to the disk (fsync).
  virtual void sync() = 0;
  virtual void close() = 0;
};

/// Lock that is held until it is destroyed or the process ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
  /// Throws InUseError if the locked file is no longer the one of its name: it was removed, and
  /// others can lock a new one. A directory that is missing as a whole does not count.
  virtual void require_held() = 0;
};

/// File-system calls of this project. Every method throws IoError: operation, path, reason, remedy.
class FileStorage {
 public:
  virtual ~FileStorage() = default;
  /// Creates a file for appending; throws for an existing one, or a link.
  virtual std::unique_ptr<StoredFile> create_exclusive(const Path& path) = 0;
  /// Opens a file for appending; creates it if missing.
  virtual std::unique_ptr<StoredFile> open_append(const Path& path) = 0;
  virtual std::unique_ptr<StoredFile> open_read(const Path& path) = 0;
  virtual void rename(const Path& from, const Path& to) = 0;
  /// Removes a file; a missing one is not an error.
  virtual void unlink(const Path& path) = 0;
  /// Makes one level; throws if it exists.
  virtual void make_directory(const Path& path) = 0;
  /// Syncs the names in the directory to the disk (fsync).
  virtual void sync_directory(const Path& path) = 0;
  virtual bool exists(const Path& path) = 0;
  /// Returns the names in a directory, sorted.
  virtual std::vector<std::string> list(const Path& directory) = 0;
  /// Locks a file, created if missing; not on network storage. Throws InUseError naming the owner.
  virtual std::unique_ptr<FileLock> lock(const Path& path) = 0;
  /// Returns the message of that error, "" if nobody holds the lock; writes nothing.
  virtual std::string in_use(const Path& path) = 0;
};

std::string read_file(FileStorage& storage, const Path& path);

/// Writes a temporary file next to `path`, syncs it, renames it to `path` and syncs the directory.
/// The file survives a power loss when this returns. If it throws, an older file of that name is
/// unchanged, unless only the last sync failed: then the new one may or may not survive. Removes
/// temporaries of this file that killed processes left, if they are an hour old.
void commit_file(FileStorage& storage, const Path& path,
                 const std::function<void(StoredFile&)>& write_body);
void commit_file(FileStorage& storage, const Path& path, const std::string& text);

/// Makes the missing directories of the path; durable when it returns.
void make_directories(FileStorage& storage, const Path& path);

/// Suffix of files that may be removed after a crash.
inline constexpr const char* temporary_suffix = ".bochner-tmp";
bool is_temporary_name(const std::string& name);
/// Whether no other process of this machine has the process number in a temporary's name.
bool is_abandoned(const std::string& temporary_name);

class PosixStorage : public FileStorage {
 public:
  std::unique_ptr<StoredFile> create_exclusive(const Path& path) override;
  std::unique_ptr<StoredFile> open_append(const Path& path) override;
  std::unique_ptr<StoredFile> open_read(const Path& path) override;
  void rename(const Path& from, const Path& to) override;
  void unlink(const Path& path) override;
  void make_directory(const Path& path) override;
  void sync_directory(const Path& path) override;
  bool exists(const Path& path) override;
  std::vector<std::string> list(const Path& directory) override;
  std::unique_ptr<FileLock> lock(const Path& path) override;
  std::string in_use(const Path& path) override;
};

/// Throws "PATH: cannot WRITE: No space left on device; free some space and try again".
[[noreturn]] void throw_io_error(const std::string& operation, const Path& path, int error_number);

}  // namespace bochner
