#pragma once

#include <unistd.h>

#include <bochner/data/files/gzip.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace bochner {

/// Owned file descriptor; -1 for none.
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
  /// Releases the descriptor: the caller must close it.
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

/// Regular file, open for reading. Throws IoError when it cannot be opened, DataError when it is
/// not a regular file.
class RegularFile {
 public:
  explicit RegularFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_.value(); }
  std::uint64_t size() const { return size_; }
  /// Returns the current device, inode, size and modification times. Throws IoError.
  std::vector<std::int64_t> marks() const;
  /// Fills `out` with the bytes from `offset` on. Throws DataError if the file was truncated,
  /// IoError when it cannot be read.
  void read_at(std::uint64_t offset, std::span<std::uint8_t> out) const;

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// Read-only mapping of a regular file: memory is used for pages that are read, and the system may
/// reclaim it. Reading what a truncated file has lost ends the process by SIGBUS; its handler gets
/// the file's name from mapped_path(). Throws as RegularFile does, and IoError when it cannot be
/// mapped.
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

/// Returns the printable path of the file mapped here, or nullptr. Safe in a signal handler.
const char* mapped_path(const void* address) noexcept;

/// Any number of regular files, read in pieces. Some stay open; the others are reopened at each
/// read, and must still be the same files.
class FileList {
 public:
  /// Throws as RegularFile does.
  explicit FileList(const std::vector<std::filesystem::path>& paths);

  std::size_t count() const { return files_.size(); }
  std::uint64_t size(std::size_t file) const { return files_[file].size; }
  std::vector<std::int64_t> marks(std::size_t file) const;
  /// Calls RegularFile::read_at(). Throws DataError for a file that was changed or replaced.
  void read_at(std::size_t file, std::uint64_t offset, std::span<std::uint8_t> out) const;

 private:
  struct Entry {
    std::filesystem::path path;
    std::uint64_t size;
    std::vector<std::int64_t> identity;  ///< device, inode, size and last change of the contents
    std::optional<RegularFile> open = std::nullopt;
  };
  RegularFile reopened(const Entry& entry) const;

  std::vector<Entry> files_;
};

/// Largest size of a decompressed file or of standard input.
constexpr std::uint64_t input_limit = std::uint64_t(1) << 30;

/// Returns the largest size that a file can have, from its first `input_front` bytes at most.
using InputDemand = std::function<std::uint64_t(ByteSpan front, const std::string& name)>;
constexpr std::size_t input_front = 1 << 17;

/// All bytes of a file, or of standard input for "-". A plain file is mapped; a gzip file
/// (recognized by its first bytes) and standard input are held in memory. Throws what MappedFile
/// and gunzip throw, and DataError beyond `limit` bytes, or the size that `demand` returns.
class Input {
 public:
  explicit Input(const std::filesystem::path& path, std::uint64_t limit = input_limit);
  Input(const std::filesystem::path& path, const InputDemand& demand);

  const std::string& name() const { return name_; }
  ByteSpan bytes() const { return mapped_ ? mapped_->bytes() : ByteSpan(held_); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes().data()), bytes().size()};
  }

 private:
  std::string name_;
  std::optional<MappedFile> mapped_;
  Bytes held_;
};

}  // namespace bochner
