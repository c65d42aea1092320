#include <algorithm>
#include <bochner/train/run/log/file_tail.hpp>
#include <optional>

namespace bochner {
namespace {

constexpr std::size_t compared_bytes = 4096;

/// Reads bytes of a file; returns nothing if it ends before them, even if it was cut just now.
std::optional<std::string> bytes_at(StoredFile& file, std::uint64_t offset, std::uint64_t count) {
  if (file.size() < offset + count) return std::nullopt;
  std::string bytes(count, '\0');
  try {
    file.read_at(offset, bytes.data(), count);
  } catch (const IoError&) {
    if (file.size() >= offset + count) throw;
    return std::nullopt;
  }
  return bytes;
}

}  // namespace

/// Opens the file; returns null if it does not exist, even if it was removed just now.
std::unique_ptr<StoredFile> FileTail::open() try {
  return storage_->exists(path_) ? storage_->open_read(path_) : nullptr;
} catch (const IoError&) {
  if (storage_->exists(path_)) throw;
  return nullptr;
}

bool FileTail::holds_what_was_read(StoredFile& file) const {
  return bytes_at(file, read_ - last_.size(), last_.size()) == last_;
}

NewLines FileTail::read() {
  const std::unique_ptr<StoredFile> file = open();
  NewLines news;
  if (read_ > 0 && (!file || !holds_what_was_read(*file))) {
    news.anew = true;
    read_ = 0;
    last_.clear();
  }
  if (!file) return news;
  const std::uint64_t size = std::max(file->size(), read_);
  news.text = bytes_at(*file, read_, size - read_).value_or("");
  news.text.resize(news.text.rfind('\n') + 1);  // 0 without a line end
  read_ += news.text.size();
  last_ += news.text.substr(news.text.size() - std::min(news.text.size(), compared_bytes));
  last_.erase(0, last_.size() - std::min(last_.size(), compared_bytes));
  return news;
}

}  // namespace bochner
