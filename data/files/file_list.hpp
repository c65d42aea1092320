#pragma once
#include <bochner/data/files/regular_file.hpp>
#include <optional>

namespace bochner {

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

}  // namespace bochner
