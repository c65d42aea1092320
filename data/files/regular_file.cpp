#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <cerrno>
#include <system_error>

namespace bochner {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  const int error = errno;
  std::string reason = std::generic_category().message(error);
  if (error == EMFILE) reason += "; join small files into one or raise the limit (ulimit -n)";
  throw IoError("cannot ", what, " ", path.string(), ": ", reason);
}

/// Returns a quarter of the limit on open files, which leaves room for everything else.
std::size_t most_open() {
  constexpr std::size_t enough = 512;
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  return std::min<std::size_t>(enough, limit.rlim_cur / 4);
}

std::vector<std::int64_t> identity_of(const RegularFile& file) {
  std::vector<std::int64_t> marks = file.marks();
  marks.resize(5);  // without the inode's change time, which a rename alters too
  return marks;
}

constexpr std::size_t first_read = 1 << 16;

Bytes read_standard_input(const std::string& name, std::uint64_t limit) {
  Bytes bytes(first_read);
  std::size_t filled = 0;
  while (true) {
    if (filled > limit)
      throw DataError(name, ": holds more than ", limit,
                      " bytes, the limit; write it to a file first");
    if (filled == bytes.size()) bytes.resize(2 * bytes.size());
    const ssize_t count = ::read(STDIN_FILENO, bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw IoError("cannot read ", name, ": ", std::generic_category().message(errno));
    if (count == 0) break;
    filled += std::size_t(count);
  }
  if (filled == 0) throw DataError(name, ": is empty; pipe data into the command, or name a file");
  bytes.resize(filled);
  return bytes;
}

}  // namespace

// Without O_NONBLOCK, opening a named pipe would wait for a writer.
RegularFile::RegularFile(std::filesystem::path path)
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor() < 0) fail("open", path_);
  struct stat status;
  if (::fstat(descriptor(), &status) != 0) fail("examine", path_);
  if (!S_ISREG(status.st_mode)) throw DataError(path_.string(), " is not a regular file");
  size_ = std::uint64_t(status.st_size);
}

std::vector<std::int64_t> RegularFile::marks() const {
  struct stat status;
  if (::fstat(descriptor(), &status) != 0) fail("examine", path_);
  return {std::int64_t(status.st_dev),  std::int64_t(status.st_ino),
          std::int64_t(status.st_size), std::int64_t(status.st_mtim.tv_sec),
          status.st_mtim.tv_nsec,       std::int64_t(status.st_ctim.tv_sec),
          status.st_ctim.tv_nsec};
}

void RegularFile::read_at(std::uint64_t offset, std::span<std::uint8_t> out) const {
  while (!out.empty()) {
    const ssize_t count = ::pread(descriptor(), out.data(), out.size(), off_t(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", path_);
    if (count == 0)
      throw DataError(path_.string(), ": was truncated: it ends before byte ", offset + out.size(),
                      " of ", size_, "; restore it");
    out = out.subspan(std::size_t(count));
    offset += std::uint64_t(count);
  }
}

/// Mapped range. Ranges are never removed from the list, so that a signal handler can walk it at
/// any time; unused ones are reused.
struct MappedFile::Range {
  std::atomic<const std::uint8_t*> begin = nullptr;
  std::atomic<std::size_t> size = 0;
  std::atomic<bool> used = true;
  std::string path;
  Range* next = nullptr;

  static inline std::atomic<Range*> first = nullptr;

  static Range* unused() {
    for (Range* range = first; range; range = range->next)
      if (!range->used.exchange(true)) return range;
    auto* range = new Range;
    range->next = first;
    while (!first.compare_exchange_weak(range->next, range)) {
    }
    return range;
  }
};

MappedFile::MappedFile(const std::filesystem::path& path) {
  const RegularFile file(path);
  if (file.size() == 0) return;  // mmap refuses an empty range
  const auto size = std::size_t(file.size());
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED)
    throw IoError("cannot map ", path.string(), ": ", std::generic_category().message(errno));
  range_ = Range::unused();
  range_->path = printable(path.string());
  range_->begin = static_cast<const std::uint8_t*>(address);
  range_->size = size;
}

MappedFile::~MappedFile() {
  if (!range_) return;
  const std::span<const std::uint8_t> mapped = bytes();
  range_->size = 0;
  range_->used = false;
  ::munmap(const_cast<std::uint8_t*>(mapped.data()), mapped.size());
}

std::span<const std::uint8_t> MappedFile::bytes() const {
  if (!range_) return {};
  return {range_->begin.load(), range_->size.load()};
}

const char* mapped_path(const void* address) noexcept {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  for (const MappedFile::Range* range = MappedFile::Range::first; range; range = range->next) {
    const auto begin = reinterpret_cast<std::uintptr_t>(range->begin.load());
    if (place >= begin && place - begin < range->size) return range->path.c_str();
  }
  return nullptr;
}

FileList::FileList(const std::vector<std::filesystem::path>& paths) {
  const std::size_t most = most_open();
  for (const auto& path : paths) {
    RegularFile file(path);
    files_.push_back({path, file.size(), identity_of(file)});
    if (files_.size() <= most) files_.back().open.emplace(std::move(file));
  }
}

RegularFile FileList::reopened(const Entry& entry) const {
  RegularFile file(entry.path);
  if (identity_of(file) != entry.identity)
    throw DataError(entry.path.string(),
                    ": was changed or replaced while it was in use; restore it");
  return file;
}

std::vector<std::int64_t> FileList::marks(std::size_t file) const {
  const Entry& entry = files_[file];
  return entry.open ? entry.open->marks() : reopened(entry).marks();
}

void FileList::read_at(std::size_t file, std::uint64_t offset, std::span<std::uint8_t> out) const {
  if (out.empty()) return;
  const Entry& entry = files_[file];
  entry.open ? entry.open->read_at(offset, out) : reopened(entry).read_at(offset, out);
}

Input::Input(const std::filesystem::path& path, std::uint64_t limit)
    : Input(path, [limit](ByteSpan, const std::string&) { return limit; }) {}

Input::Input(const std::filesystem::path& path, const InputDemand& demand) : name_(path.string()) {
  if (path == "-") {
    name_ = "standard input";
    held_ = read_standard_input(name_, demand({}, name_));
  } else {
    mapped_.emplace(path);
  }
  if (!is_gzip(bytes())) return;
  held_ = gunzip(bytes(), name_, demand(gunzip_front(bytes(), name_, input_front), name_));
  mapped_.reset();
}

}  // namespace bochner
