#include <algorithm>
#include <bochner/data/files/digest.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/run/log/metrics.hpp>
#include <bochner/train/storage/json.hpp>
#include <limits>
#include <span>

namespace bochner {
namespace {

constexpr std::size_t few_bytes = 4096;  // cheap to rewrite

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

std::vector<std::uint32_t> digests_of(std::string_view lines) {
  std::vector<std::uint32_t> digests;
  for_each_line(lines, [&](std::string_view line, std::size_t) {
    digests.push_back(std::uint32_t(digest_of_elements(line)));
  });
  return digests;
}

/// Returns one digest per block of lines; blocks of one line keep their digests.
std::vector<std::uint32_t> of_blocks(const std::vector<std::uint32_t>& of_lines,
                                     std::uint64_t lines) {
  if (lines <= 1) return of_lines;
  std::vector<std::uint32_t> blocks;
  for (std::size_t begin = 0; begin < of_lines.size(); begin += lines) {
    const std::size_t count = std::min<std::size_t>(lines, of_lines.size() - begin);
    blocks.push_back(std::uint32_t(digest_of_elements(std::span(&of_lines[begin], count))));
  }
  return blocks;
}

bool is_metrics(std::string_view line) { return Json::parse(line)["step"].number().has_value(); }

/// Describes the damage in lines that are cut; "" if they are merely surplus.
std::string damage_of(std::string_view lines, const Path& path, std::size_t before) {
  std::size_t first = 0;
  const std::string_view torn =
      for_each_line(lines, [&](std::string_view line, std::size_t number) {
        if (first == 0 && !is_metrics(line)) first = before + number;
      });
  if (first > 0)
    return in_words(path.string(), ":", first,
                    ": was damaged; it was cut and will be written again");
  return torn.empty() ? "" : in_words(path.string(), ": an incomplete last line was cut");
}

}  // namespace

LineDigests bounded(const std::vector<std::uint32_t>& of_lines) {
  constexpr std::uint64_t most_digests = 1000;
  std::uint64_t lines = 1;
  while (lines * most_digests < of_lines.size()) lines *= 2;
  return {of_blocks(of_lines, lines), lines};
}

MetricsFile::MetricsFile(FileStorage& storage, Path path)
    : storage_(storage),
      path_(std::move(path)),
      file_(storage.open_append(path_)),
      bytes_(file_->size()) {}

void MetricsFile::append(const std::string& line) {
  waiting_ += line + "\n";
  if (waiting_.size() >= next_try_) flush();
}

void MetricsFile::flush() try {
  if (waiting_.empty()) return;
  drop_torn_line();
  torn_ = true;
  file_->append(waiting_.data(), waiting_.size());
  torn_ = false;
  bytes_ += waiting_.size();
  for (const std::uint32_t digest : digests_of(waiting_)) digests_.push_back(digest);
  waiting_.clear();
  problem_.clear();
  next_try_ = 0;
} catch (const IoError& error) {
  problem_ = error.what();
  next_try_ = waiting_.size() < few_bytes ? 0 : 2 * waiting_.size();
}

void MetricsFile::sync() {
  require_own_lines();
  drop_torn_line();
  if (sync_failed_ || file_->is_replaced()) replace_file();
  sync_failed_ = true;
  file_->sync();
  sync_failed_ = false;
}

std::string MetricsFile::rewind(std::uint64_t bytes, const LineDigests& digests,
                                const std::string& waiting) {
  std::string text(file_->size(), '\0');
  file_->read_at(0, text.data(), text.size());
  const std::string_view lines = std::string_view(text).substr(0, bytes);
  const std::string_view rest = std::string_view(text).substr(lines.size());
  require_digests(lines, digests, bytes);
  const std::string damage = damage_of(rest, path_, digests_.size());
  bytes_ = bytes;
  torn_ = true;
  sync();
  waiting_ = waiting;
  flush();
  return damage;
}

void MetricsFile::require_digests(std::string_view lines, const LineDigests& wanted,
                                  std::uint64_t bytes) {
  digests_ = digests_of(lines);
  const std::vector<std::uint32_t> found = of_blocks(digests_, wanted.lines);
  const auto other = std::ranges::mismatch(found, wanted.values).in1;
  if (lines.size() < bytes && (wanted.values.empty() || other == found.end()))
    throw DataError(path_.string(), ": has ", lines.size(),
                    " bytes, the checkpoint was written after ", bytes,
                    "; put the file back, or fork a new run from the checkpoint");
  if (wanted.values.empty() || found == wanted.values) return;
  const std::uint64_t block = std::uint64_t(other - found.begin());
  const std::uint64_t first = block * wanted.lines + 1, last = (block + 1) * wanted.lines;
  const std::string advice = " written; put the file back, or fork a new run from the checkpoint";
  if (first == last)
    throw DataError(path_.string(), ":", first, ": differs from the line that was", advice);
  throw DataError(path_.string(), ":", first, ": one of the lines up to ", last,
                  " differs from what was", advice);
}

/// Throws DataError if another program has cut the file or written to it.
void MetricsFile::require_own_lines() {
  const std::uint64_t size = file_->size();
  if (size < bytes_)
    throw DataError(
        path_.string(), ": has ", size, " of the ", bytes_,
        " bytes that were written: another program has cut it; put it back, then resume");
  torn_ = torn_ || size > bytes_;
}

void MetricsFile::drop_torn_line() {
  if (!torn_) return;
  file_->truncate(bytes_);
  torn_ = false;
}

/// Writes all lines to a new file: after a failed sync the system may have dropped bytes and report
/// success the next time, and the name may refer to another file.
void MetricsFile::replace_file() {
  std::string lines(bytes_, '\0');
  file_->read_at(0, lines.data(), lines.size());
  commit_file(storage_, path_, lines);
  file_ = storage_.open_append(path_);
}

void append_line(MetricsLog& log, std::string_view line, const std::string& place) {
  const Json entry = Json::parse(line);
  const std::optional<double> step = entry["step"].number();
  if (!step) throw DataError(place, ": not a line of metrics; remove it, or restore the file");
  for (const auto& [key, value] : entry.members()) {
    const std::optional<double> number = value.number();
    if (key == "kernels") append_kernels(log, *step, value);
    if (key != "step" && number) append(log.curves[key], *step, *number);
  }
}

MetricsLog read_metrics(std::string_view text, const std::string& source) {
  MetricsLog log;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    append_line(log, line, in_words(source, ":", number));
  });
  return log;
}

}  // namespace bochner
