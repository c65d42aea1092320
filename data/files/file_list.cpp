#include <sys/resource.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/files/file_list.hpp>

namespace bochner {
namespace {

/// Returns a quarter of the limit on open files, which leaves room for everything else.
std::size_t most_open() {
  constexpr std::size_t enough = 512;
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  return std::min<std::size_t>(enough, limit.rlim_cur / 4);
}

std::vector<std::int64_t> identity_of(const RegularFile& file) {
  std::vector<std::int64_t> marks = file.marks();
  marks.resize(5);  // without the inode's change time, which a rename alters too
  return marks;
}

}  // namespace

FileList::FileList(const std::vector<std::filesystem::path>& paths) {
  const std::size_t most = most_open();
  for (const auto& path : paths) {
    RegularFile file(path);
    files_.push_back({path, file.size(), identity_of(file)});
    if (files_.size() <= most) files_.back().open.emplace(std::move(file));
  }
}

RegularFile FileList::reopened(const Entry& entry) const {
  RegularFile file(entry.path);
  if (identity_of(file) != entry.identity)
    throw DataError(entry.path.string(),
                    ": was changed or replaced while it was in use; restore it");
  return file;
}

std::vector<std::int64_t> FileList::marks(std::size_t file) const {
  const Entry& entry = files_[file];
  return entry.open ? entry.open->marks() : reopened(entry).marks();
}

void FileList::read_at(std::size_t file, std::uint64_t offset, std::span<std::uint8_t> out) const {
  if (out.empty()) return;
  const Entry& entry = files_[file];
  entry.open ? entry.open->read_at(offset, out) : reopened(entry).read_at(offset, out);
}

}  // namespace bochner
