#pragma once
/// The lines of a file that another program writes, as they come.

#include <bochner/train/storage/storage.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace bochner {

/// Calls visit(line, number) for each line that has its end; returns what is behind the last one.
template <class Visit>
std::string_view for_each_line(std::string_view text, Visit visit) {
  std::size_t number = 0;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1))
    visit(text.substr(0, end), ++number);
  return text;
}

/// Whole lines that were not seen before, with their ends.
struct NewLines {
  std::string text = {};
  bool anew = false;  ///< those seen before are no longer there: all lines come again
};

/// Whole lines of a file that may grow, be cut back, be replaced, or not be there yet. Who cuts it
/// back and writes the same again, as a run that is resumed does, has changed nothing.
class FileTail {
 public:
  /// `storage` must outlive it.
  FileTail(FileStorage& storage, Path path) : storage_(&storage), path_(std::move(path)) {}
  /// Throws IoError where the file is there and cannot be read.
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
