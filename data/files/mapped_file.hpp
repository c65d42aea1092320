#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace bochner {

/// The bytes of a regular file, mapped read-only: memory is used for the pages that are read, and
/// the system may take it back. The file must not be shortened while it is mapped: the system would
/// end the process. Throws as RegularFile does, and IoError when it cannot be mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace bochner
