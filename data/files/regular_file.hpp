#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

namespace bochner {

/// An open file of the system, closed at the end; -1 for none.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  int value() const { return value_; }
  /// Gives it up: whoever calls this closes it.
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

/// A regular file, open for reading. Throws IoError when it cannot be opened, DataError when it is
/// not a regular file.
class RegularFile {
 public:
  explicit RegularFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_.value(); }
  /// Bytes when it was opened.
  std::uint64_t size() const { return size_; }
  /// Device, inode, size and the times of the last changes now. Throws IoError.
  std::vector<std::int64_t> marks() const;
  /// Fills `out` with the bytes from `offset` on. Throws DataError where the file has become
  /// shorter, IoError when it cannot be read.
  void read_at(std::uint64_t offset, std::span<std::uint8_t> out) const;

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// The bytes of a regular file, mapped read-only: memory is used for the pages that are read, and
/// the system may take it back. To read what a file has lost that was shortened meanwhile ends the
/// process by SIGBUS, whose handler mapped_path() tells the file. Throws as RegularFile does, and
/// IoError when it cannot be mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept : range_(std::exchange(other.range_, nullptr)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(range_, other.range_);
    return *this;
  }
  ~MappedFile();

  std::span<const std::uint8_t> bytes() const;

 private:
  struct Range;
  friend const char* mapped_path(const void* address) noexcept;
  Range* range_ = nullptr;  ///< null for no bytes
};

/// The file that is mapped where this address is, fit for a terminal, or nullptr. May be called by
/// a signal handler.
const char* mapped_path(const void* address) noexcept;

}  // namespace bochner
