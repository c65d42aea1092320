#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <cerrno>
#include <string>
#include <system_error>

namespace bochner {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  const int error = errno;
  std::string reason = std::generic_category().message(error);
  if (error == EMFILE) reason += "; join small files into one or raise the limit (ulimit -n)";
  throw IoError("cannot ", what, " ", path.string(), ": ", reason);
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

void RegularFile::read_at(std::uint64_t offset, std::span<std::uint8_t> out) const {
  while (!out.empty()) {
    const ssize_t count = ::pread(descriptor(), out.data(), out.size(), off_t(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", path_);
    if (count == 0)
      throw DataError(path_.string(), ": has become shorter, it ends before byte ",
                      offset + out.size(), " of ", size_, "; restore it");
    out = out.subspan(std::size_t(count));
    offset += std::uint64_t(count);
  }
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const RegularFile file(path);
  if (file.size() == 0) return;  // mmap refuses an empty range
  const auto size = std::size_t(file.size());
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED)
    throw IoError("cannot map ", path.string(), ": ", std::generic_category().message(errno));
  bytes_ = {static_cast<const std::uint8_t*>(address), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace bochner
