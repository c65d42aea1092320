#pragma once
#include <bochner/data/files/regular_file.hpp>
#include <optional>

namespace bochner {

/// Regular files that are read piece by piece, however many. Some stay open; each of the others is
/// opened whenever it is read, and must then be the file that it was at first.
class FileList {
 public:
  /// Throws as RegularFile does.
  explicit FileList(const std::vector<std::filesystem::path>& paths);

  std::size_t count() const { return files_.size(); }
  /// Bytes of a file when it was first opened.
  std::uint64_t size(std::size_t file) const { return files_[file].size; }
  /// RegularFile::marks() of now.
  std::vector<std::int64_t> marks(std::size_t file) const;
  /// RegularFile::read_at(); throws DataError for a file that has been changed or replaced.
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
