#include <bochner/train/run/metrics.hpp>
#include <bochner/train/storage/json.hpp>
#include <limits>
#include <utility>

namespace bochner {
namespace {

void append(Curve& curve, double step, double value) {
  curve.x.push_back(step);
  curve.y.push_back(value);
}

void set_heads(MetricsLog& log, const std::string& layer, const Json& heads) {
  for (const auto& [key, values] : heads.members()) {
    std::vector<double>& numbers = log.heads[key][layer];
    numbers.clear();
    for (const Json& value : values.items())
      numbers.push_back(value.number().value_or(std::numeric_limits<double>::quiet_NaN()));
  }
}

void append_kernels(MetricsLog& log, double step, const Json& layers) {
  for (const Json& layer : layers.items()) {
    const std::string* name = layer["layer"].text();
    if (!name) continue;
    set_heads(log, *name, layer["heads"]);
    for (const auto& [key, value] : layer.members())
      if (const auto number = value.number()) append(log.kernels[key][*name], step, *number);
  }
}

void append_line(MetricsLog& log, std::string_view line, const std::string& place) {
  const Json entry = Json::parse(line);
  const std::optional<double> step = entry["step"].number();
  if (!step) throw DataError(place, ": no line of metrics; remove it, or restore the file");
  for (const auto& [key, value] : entry.members()) {
    const std::optional<double> number = value.number();
    if (key == "kernels") append_kernels(log, *step, value);
    if (key != "step" && number) append(log.curves[key], *step, *number);
  }
}

}  // namespace

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
  if (bytes > file_->size())
    throw DataError(path_.string(), ": has ", file_->size(),
                    " bytes, the checkpoint was written after ", bytes,
                    "; put the file back, or fork a new run from the checkpoint");
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

MetricsLog read_metrics(std::string_view text, const std::string& source) {
  MetricsLog log;
  std::size_t number = 0;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1))
    append_line(log, text.substr(0, end), in_words(source, ":", ++number));
  return log;
}

}  // namespace bochner
