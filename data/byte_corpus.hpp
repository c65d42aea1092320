#pragma once

#include <bochner/data/files/regular_file.hpp>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace bochner {

/// The bytes of files one after the other. The files stay open, so that a run of days sees those it
/// began with, and are read piece by piece; they are not mapped, because a file that is shortened
/// meanwhile would end the process. Throws as RegularFile does.
class ByteCorpus {
 public:
  explicit ByteCorpus(const std::vector<std::filesystem::path>& files);

  std::uint64_t size() const { return starts_.back(); }
  std::size_t file_count() const { return files_.size(); }
  /// XXH64 of the file borders and the contents, whatever the names of the files: equal data, equal
  /// fingerprint. Beyond 64 MiB only 64 evenly spaced blocks of 1 MiB are read, the first and the
  /// last among them, so that opening stays quick; a change between them goes unseen.
  std::uint64_t fingerprint() const { return fingerprint_; }
  /// Copies the bytes begin, begin + 1, ... across file borders. Throws std::invalid_argument
  /// beyond the end, DataError where a file has become shorter.
  void read(std::uint64_t begin, std::span<std::uint8_t> out) const;

 private:
  std::uint64_t hash_contents() const;

  std::vector<RegularFile> files_;
  std::vector<std::uint64_t> starts_;  ///< first byte of each file, then the size of all
  std::uint64_t fingerprint_;
};

}  // namespace bochner
