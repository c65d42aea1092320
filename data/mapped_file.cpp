#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bochner/data/errors.hpp>
#include <bochner/data/mapped_file.hpp>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  const int error = errno;
  std::string reason = std::generic_category().message(error);
  if (error == ENOMEM) reason += "; join small files into one or raise vm.max_map_count";
  throw IoError("cannot " + std::string(what) + " " + path.string() + ": " + reason);
}

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0) fail("open", path);
  struct stat status;
  if (::fstat(file.value, &status) != 0) fail("examine", path);
  if (!S_ISREG(status.st_mode)) throw DataError(path.string() + " is not a regular file");
  if (status.st_size == 0) return;  // mmap refuses an empty range
  const auto size = std::size_t(status.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (address == MAP_FAILED) fail("map", path);
  bytes_ = {static_cast<const std::uint8_t*>(address), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace bochner::inline BOCHNER_PRECISION
