#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <bochner/train/storage/storage.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>
#include <system_error>
#include <thread>

namespace bochner {
namespace {

constexpr int common_flags = O_CLOEXEC | O_NOFOLLOW;

const char* advice(int error_number) {
  static const std::pair<std::set<int>, const char*> table[] = {
      {{ENOSPC, EDQUOT}, "free some space and try again"},
      {{EACCES, EPERM, EROFS}, "check the permissions or choose another directory"},
      {{ENOENT, ENOTDIR, EISDIR}, "check the path"},
      {{ENAMETOOLONG}, "choose a shorter name"},
      {{EEXIST}, "remove it or choose another name"},
      {{ELOOP}, "links are not allowed here: give the file itself"},
      {{ENOMEM}, "free some memory or raise its limit (ulimit -v)"},
      {{EMFILE, ENFILE}, "close files or raise the limit (ulimit -n)"},
      {{EFBIG}, "raise the file-size limit (ulimit -f)"}};
  for (const auto& [errors, text] : table)
    if (errors.contains(error_number)) return text;
  return "check the disk";
}

/// Repeats the call while a signal interrupts it; throws if it fails.
template <class Call>
auto retry(const std::string& operation, const Path& path, Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0) return result;
    if (errno != EINTR) throw_io_error(operation, path, errno);
  }
}

int open_descriptor(const Path& path, int flags) {
  return retry("open", path, [&] { return ::open(path.c_str(), flags | common_flags, 0666); });
}

Path directory_or_here(const Path& path) { return path.empty() ? Path(".") : path; }

/// Whether the name refers to the open file. Looks it up in the open directory, which may be
/// renamed or missing for a moment.
bool leads_to(const Path& path, int descriptor) {
  const Descriptor directory(
      ::open(directory_or_here(path.parent_path()).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat open, found;
  if (directory.value() < 0 || ::fstat(descriptor, &open) != 0) return true;
  const std::string name = path.filename().string();
  return ::fstatat(directory.value(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0
             ? found.st_ino == open.st_ino && found.st_dev == open.st_dev
             : errno != ENOENT;
}

class PosixFile : public StoredFile {
 public:
  PosixFile(Path path, int flags)
      : path_(std::move(path)), descriptor_(open_descriptor(path_, flags)) {}

  void append(const void* data, std::size_t bytes) override {
    const char* next = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written =
          retry("write", path_, [&] { return ::write(descriptor_.value(), next, bytes); });
      next += written;
      bytes -= std::size_t(written);
    }
  }

  void read_at(std::uint64_t offset, void* data, std::size_t bytes) override {
    char* next = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t count = retry(
          "read", path_, [&] { return ::pread(descriptor_.value(), next, bytes, off_t(offset)); });
      if (count == 0)
        throw IoError(path_.string(), ": cannot read: the file ends at byte ", offset,
                      "; another process may be changing it");
      next += count;
      offset += std::uint64_t(count);
      bytes -= std::size_t(count);
    }
  }

  std::uint64_t size() override { return std::uint64_t(status().st_size); }

  void truncate(std::uint64_t size) override {
    retry("truncate", path_, [&] { return ::ftruncate(descriptor_.value(), off_t(size)); });
  }

  void sync() override {
    retry("sync", path_, [&] { return ::fsync(descriptor_.value()); });
  }

  bool is_replaced() override { return !leads_to(path_, descriptor_.value()); }

  void close() override {
    // The descriptor is closed even if close fails, so it is never closed again.
    if (::close(descriptor_.release()) != 0 && errno != EINTR)
      throw_io_error("close", path_, errno);
  }

  void require_regular() {
    if (S_ISREG(status().st_mode)) return;
    throw IoError(path_.string(), ": cannot read: not a regular file; check the path");
  }

 private:
  struct stat status() {
    struct stat result;
    retry("stat", path_, [&] { return ::fstat(descriptor_.value(), &result); });
    return result;
  }

  Path path_;
  Descriptor descriptor_;
};

std::string words_of_holder(const Path& path, const Descriptor& lock) {
  char text[32];
  const ssize_t count = ::pread(lock.value(), text, sizeof text, 0);
  return in_words(path.parent_path().string(), ": another process (pid ",
                  count > 0 ? std::string(text, std::size_t(count)) : "unknown",
                  ") is using this run; wait until it ends, or stop it");
}

class PosixLock : public FileLock {
 public:
  explicit PosixLock(const Path& path)
      : path_(path), descriptor_(open_descriptor(path, O_RDWR | O_CREAT)) {
    // A process that checks the lock holds it for a moment.
    for (int tries = 1; ::flock(descriptor_.value(), LOCK_EX | LOCK_NB) != 0; ++tries) {
      if (errno != EWOULDBLOCK) throw_io_error("lock", path_, errno);
      if (tries == 5) throw InUseError(words_of_holder(path_, descriptor_));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    require_held();
    const std::string id = std::to_string(::getpid());
    retry("truncate", path, [&] { return ::ftruncate(descriptor_.value(), 0); });
    retry("write", path, [&] { return ::pwrite(descriptor_.value(), id.data(), id.size(), 0); });
  }

  void require_held() override {
    if (leads_to(path_, descriptor_.value())) return;
    throw InUseError(path_.parent_path().string(), ": ", path_.filename().string(),
                     " was removed, so another process may be using this run; nothing more is "
                     "written here; stop the other process");
  }

 private:
  Path path_;
  Descriptor descriptor_;
};

/// Age of abandoned temporaries: a process of another machine may be writing to a shared folder.
constexpr std::chrono::hours longest_silence{1};

/// Whether this is NAME.PID.ATTEMPT of the file.
bool is_temporary_of(const Path& path, const std::string& name) {
  return is_temporary_name(name) && Path(name).stem().stem().stem() == path.filename();
}

/// Removes temporaries that killed writers of this file left.
void remove_abandoned(FileStorage& storage, const Path& path) try {
  const Path directory = directory_or_here(path.parent_path());
  for (const std::string& name : storage.list(directory)) {
    if (!is_temporary_of(path, name) || !is_abandoned(name)) continue;
    std::error_code gone;
    const auto written = std::filesystem::last_write_time(directory / name, gone);
    if (!gone && std::filesystem::file_time_type::clock::now() - written > longest_silence)
      storage.unlink(directory / name);
  }
} catch (const IoError&) {  // harmless if they stay
}

Path unused_temporary(FileStorage& storage, const Path& path) {
  for (std::size_t attempt = 0;; ++attempt) {
    const Path candidate = in_words(path.string(), ".", ::getpid(), ".", attempt, temporary_suffix);
    if (!storage.exists(candidate)) return candidate;
  }
}

}  // namespace

void throw_io_error(const std::string& operation, const Path& path, int error_number) {
  throw IoError(path.string(), ": cannot ", operation, ": ", std::strerror(error_number), "; ",
                advice(error_number));
}

std::string read_file(FileStorage& storage, const Path& path) {
  const auto file = storage.open_read(path);
  std::string bytes(file->size(), '\0');
  file->read_at(0, bytes.data(), bytes.size());
  return bytes;
}

void commit_file(FileStorage& storage, const Path& path,
                 const std::function<void(StoredFile&)>& write_body) {
  remove_abandoned(storage, path);
  const Path temporary = unused_temporary(storage, path);
  auto file = storage.create_exclusive(temporary);
  try {
    write_body(*file);
    file->sync();
    file->close();
    storage.rename(temporary, path);
  } catch (...) {
    // Reports the first error; later writers remove a temporary that stays.
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
  if (!path.has_filename()) return;  // "runs/new/", whose parent is "runs/new"
  try {
    storage.make_directory(path);
  } catch (const IoError&) {
    if (!storage.exists(path)) throw;  // else another process has made it meanwhile
  }
  storage.sync_directory(path.parent_path());
}

bool is_temporary_name(const std::string& name) { return name.ends_with(temporary_suffix); }

bool is_abandoned(const std::string& temporary_name) {
  if (!is_temporary_name(temporary_name)) return false;
  const Path attempt = Path(temporary_name).stem(), process = attempt.stem();  // NAME.PID.ATTEMPT
  const std::string digits = process.extension().string().substr(process.has_extension());
  pid_t writer = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), writer);
  if (writer <= 0 || writer == ::getpid()) return true;
  return ::kill(writer, 0) != 0 && errno == ESRCH;
}

std::unique_ptr<StoredFile> PosixStorage::create_exclusive(const Path& path) {
  return std::make_unique<PosixFile>(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND);
}

std::unique_ptr<StoredFile> PosixStorage::open_append(const Path& path) {
  return std::make_unique<PosixFile>(path, O_RDWR | O_CREAT | O_APPEND);
}

std::unique_ptr<StoredFile> PosixStorage::open_read(const Path& path) {
  // Non-blocking, so that a named pipe is refused instead of waited for.
  auto file = std::make_unique<PosixFile>(path, O_RDONLY | O_NONBLOCK);
  file->require_regular();
  return file;
}

void PosixStorage::rename(const Path& from, const Path& to) {
  retry("rename to " + to.filename().string(), from,
        [&] { return ::rename(from.c_str(), to.c_str()); });
}

void PosixStorage::unlink(const Path& path) {
  retry("remove", path, [&] {
    const int result = ::unlink(path.c_str());
    return result != 0 && errno == ENOENT ? 0 : result;
  });
}

void PosixStorage::make_directory(const Path& path) {
  retry("make directory", path, [&] { return ::mkdir(path.c_str(), 0777); });
}

void PosixStorage::sync_directory(const Path& path) {
  const Path directory = directory_or_here(path);
  const Descriptor descriptor(retry("open", directory, [&] {
    return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }));
  retry("sync", directory, [&] { return ::fsync(descriptor.value()); });
}

bool PosixStorage::exists(const Path& path) {
  struct stat ignored;
  if (::lstat(path.c_str(), &ignored) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw_io_error("look at", path, errno);
}

std::vector<std::string> PosixStorage::list(const Path& directory) {
  try {
    return names_in(directory);
  } catch (const std::system_error& error) {
    throw_io_error("list", directory, error.code().value());
  }
}

std::unique_ptr<FileLock> PosixStorage::lock(const Path& path) {
  return std::make_unique<PosixLock>(path);
}

std::string PosixStorage::in_use(const Path& path) {
  const Descriptor lock(::open(path.c_str(), O_RDONLY | common_flags));
  if (lock.value() < 0 && (errno == ENOENT || errno == ENOTDIR)) return "";
  if (lock.value() < 0) throw_io_error("open", path, errno);
  const bool is_held = ::flock(lock.value(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return is_held ? words_of_holder(path, lock) : "";
}

}  // namespace bochner
