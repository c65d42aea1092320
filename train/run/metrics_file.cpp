#include <bochner/train/run/metrics_file.hpp>
#include <bochner/train/storage/commit_file.hpp>
#include <utility>

namespace bochner {

MetricsFile::MetricsFile(FileStorage& storage, Path path)
    : storage_(storage),
      path_(std::move(path)),
      file_(storage.open_append(path_)),
      bytes_(file_->size()) {}

void MetricsFile::append(const std::string& line) {
  drop_torn_line();
  const std::string bytes = line + "\n";
  torn_ = true;
  file_->append(bytes.data(), bytes.size());
  torn_ = false;
  bytes_ += bytes.size();
}

void MetricsFile::sync() {
  drop_torn_line();
  if (sync_failed_) replace_file();
  sync_failed_ = true;
  file_->sync();
  sync_failed_ = false;
}

void MetricsFile::rewind(std::uint64_t bytes) {
  if (bytes > file_->size()) {
    throw DataError(path_.string() + ": has " + std::to_string(file_->size()) +
                    " bytes, the checkpoint was written after " + std::to_string(bytes) +
                    "; put the file back, or fork a new run from the checkpoint");
  }
  bytes_ = bytes;
  torn_ = true;
  sync();
}

void MetricsFile::drop_torn_line() {
  if (!torn_) return;
  file_->truncate(bytes_);
  torn_ = false;
}

/// After a failed sync the system may have dropped the bytes and report success the next time, so
/// the lines are written again to a new file.
void MetricsFile::replace_file() {
  std::string lines(bytes_, '\0');
  file_->read_at(0, lines.data(), lines.size());
  commit_file(storage_, path_, lines);
  file_ = storage_.open_append(path_);
}

}  // namespace bochner
