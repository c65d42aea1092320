#pragma once
/// The one door for persistent files, so that tests can fail or lose any write.

#include <bochner/base/errors.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bochner {

using Path = std::filesystem::path;

/// Another process uses what was to be locked, or may do so since the lock was removed.
struct InUseError : IoError {
  using IoError::IoError;
};

/// An open file; closed when destroyed. Every method throws IoError.
class StoredFile {
 public:
  virtual ~StoredFile() = default;
  /// Adds all the bytes at the end.
  virtual void append(const void* data, std::size_t bytes) = 0;
  /// Fills all of `data`; a file that ends earlier is an error.
  virtual void read_at(std::uint64_t offset, void* data, std::size_t bytes) = 0;
  virtual std::uint64_t size() = 0;
  virtual void truncate(std::uint64_t size) = 0;
  /// Whether its name leads to another file by now, or to none. A directory that is missing as a
  /// whole is no such sign.
  virtual bool is_replaced() = 0;
  /// Returns when the bytes are on the disk (fsync).
  virtual void sync() = 0;
  virtual void close() = 0;
};

/// A lock that is held until it is destroyed or the process ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
  /// Throws InUseError when the locked file is no more the one of its name: somebody removed it,
  /// and others can lock another one. A directory that is missing as a whole is no such sign.
  virtual void require_held() = 0;
};

/// The file-system calls this project makes. Every method throws IoError: operation, path, reason,
/// what to do.
class FileStorage {
 public:
  virtual ~FileStorage() = default;
  /// A new file, open for appending; an existing one, or a link, is an error.
  virtual std::unique_ptr<StoredFile> create_exclusive(const Path& path) = 0;
  /// Created when missing.
  virtual std::unique_ptr<StoredFile> open_append(const Path& path) = 0;
  virtual std::unique_ptr<StoredFile> open_read(const Path& path) = 0;
  virtual void rename(const Path& from, const Path& to) = 0;
  /// Removes a file; one that is gone already is no error.
  virtual void unlink(const Path& path) = 0;
  /// One level; fails when it exists.
  virtual void make_directory(const Path& path) = 0;
  /// Returns when the names in the directory are on the disk (fsync).
  virtual void sync_directory(const Path& path) = 0;
  virtual bool exists(const Path& path) = 0;
  /// The names in a directory, sorted.
  virtual std::vector<std::string> list(const Path& directory) = 0;
  /// Locks a file, created when missing. Throws an InUseError that names the other process when
  /// that holds it. Not for network file systems.
  virtual std::unique_ptr<FileLock> lock(const Path& path) = 0;
  /// What that error would say, "" where nobody holds it; nothing is written.
  virtual std::string in_use(const Path& path) = 0;
};

/// The whole file as bytes.
std::string read_file(FileStorage& storage, const Path& path);

/// Writes a temporary file next to `path`, syncs it, renames it to `path` and syncs the directory.
/// When it returns, the file survives a power loss. When it throws, an older file of that name is
/// as it was, unless only the last sync failed: then the new one may or may not survive. Temporary
/// files of this one that killed processes left are removed when they are an hour old.
void commit_file(FileStorage& storage, const Path& path,
                 const std::function<void(StoredFile&)>& write_body);
void commit_file(FileStorage& storage, const Path& path, const std::string& text);

/// Makes the missing directories of the path; their names are on the disk when it returns.
void make_directories(FileStorage& storage, const Path& path);

/// What the names of files that may be removed after a crash end with.
inline constexpr const char* temporary_suffix = ".bochner-tmp";
bool is_temporary_name(const std::string& name);
/// Whether nobody writes that one any more: its process, whose number is in its name, is no other
/// one of this machine.
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

/// "PATH: cannot WRITE: No space left on device; free some space and try again"
[[noreturn]] void throw_io_error(const std::string& operation, const Path& path, int error_number);

}  // namespace bochner
