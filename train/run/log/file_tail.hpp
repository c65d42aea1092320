#pragma once
/// Reading of the lines that another program appends to a file.

#include <bochner/train/storage/storage.hpp>
#include <string_view>
#include <utility>

namespace bochner {

/// Calls visit(line, number) for each complete line; returns what follows the last one.
template <class Visit>
std::string_view for_each_line(std::string_view text, Visit visit) {
  std::size_t number = 0;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1))
    visit(text.substr(0, end), ++number);
  return text;
}

/// Complete lines that were not read before, with their ends.
struct NewLines {
  std::string text = {};
  bool anew = false;  ///< lines read before were changed or removed: all lines come again
};

/// Tail of a file that may grow, be cut back, be replaced, or not exist yet. Cutting it back and
/// writing the same again, as a resumed run does, is not a change.
class FileTail {
 public:
  /// `storage` must outlive it.
  FileTail(FileStorage& storage, Path path) : storage_(&storage), path_(std::move(path)) {}
  /// Reads new lines. Throws IoError if the file exists and cannot be read.
  NewLines read();
  const Path& path() const { return path_; }

 private:
  std::unique_ptr<StoredFile> open();
  bool holds_what_was_read(StoredFile& file) const;

  FileStorage* storage_;
  Path path_;
  std::uint64_t read_ = 0;
  std::string last_;  ///< the end of what was read
};

}  // namespace bochner
