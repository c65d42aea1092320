#pragma once
/// metrics.jsonl: lines at a known byte offset, cut back on resume to what the checkpoint knows.

#include <bochner/train/storage/storage.hpp>

namespace bochner {

class MetricsFile {
 public:
  /// Created when missing.
  MetricsFile(FileStorage& storage, Path path);
  /// Adds a line (without its end). When it throws, the line is not part of the file.
  void append(const std::string& line);
  /// Returns when all lines are on the disk.
  void sync();
  /// Cuts what is beyond; durable when it returns. Throws DataError when the file is shorter.
  void rewind(std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }

 private:
  void drop_torn_line();
  void replace_file();

  FileStorage& storage_;
  Path path_;
  std::unique_ptr<StoredFile> file_;
  std::uint64_t bytes_;
  bool torn_ = false;
  bool sync_failed_ = false;
};

}  // namespace bochner
