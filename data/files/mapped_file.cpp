#include <sys/mman.h>

#include <bochner/data/files/errors.hpp>
#include <bochner/data/files/mapped_file.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace bochner {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const RegularFile file(path);
  if (file.size() == 0) return;  // mmap refuses an empty range
  const auto size = std::size_t(file.size());
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED)
    throw IoError("cannot map " + path.string() + ": " + std::generic_category().message(errno));
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

}  // namespace bochner
