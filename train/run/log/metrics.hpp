#pragma once
/// metrics.jsonl: writing, which resume cuts back to the byte count of the checkpoint, and reading
/// as curves for the report of a run.

#include <bochner/train/charts/chart.hpp>
#include <bochner/train/storage/storage.hpp>
#include <map>

namespace bochner {

class Page;
struct TrainerState;

/// Digests of the lines of a text, one per line or per block of `lines`.
struct LineDigests {
  std::vector<std::uint32_t> values = {};
  std::uint64_t lines = 1;  ///< per digest; the last may have fewer
};
/// Merges digests into at most a thousand.
LineDigests bounded(const std::vector<std::uint32_t>& of_lines);

class MetricsFile {
 public:
  /// Opens the file; creates it if missing.
  MetricsFile(FileStorage& storage, Path path);
  /// Appends a line (without its end). Lines that cannot be written wait and are retried with the
  /// next line, many only once their size has doubled, and by flush(); see problem().
  void append(const std::string& line);
  /// Tries to write the waiting lines.
  void flush();
  /// Syncs the lines of the file to the disk.
  void sync();
  /// Cuts the file to `bytes`, durably, and appends the lines that waited when the checkpoint was
  /// written. Returns the damage in the cut lines, "" for none. Throws DataError if the file is
  /// shorter, or if lines do not match `digests`; without digests lines are not compared.
  std::string rewind(std::uint64_t bytes, const LineDigests& digests = {},
                     const std::string& waiting = {});
  /// Returns the size of the file without waiting lines.
  std::uint64_t bytes() const { return bytes_; }
  /// Returns the digest of each line of the file.
  const std::vector<std::uint32_t>& digests() const { return digests_; }
  /// Returns the lines that are not in the file yet, with their ends.
  const std::string& waiting() const { return waiting_; }
  /// Returns why lines wait; "" if none do.
  const std::string& problem() const { return problem_; }

 private:
  void drop_torn_line();
  void require_own_lines();
  void require_digests(std::string_view lines, const LineDigests& wanted, std::uint64_t bytes);
  void replace_file();

  FileStorage& storage_;
  Path path_;
  std::unique_ptr<StoredFile> file_;
  std::uint64_t bytes_;
  std::vector<std::uint32_t> digests_;
  std::string waiting_, problem_;
  std::size_t next_try_ = 0;  ///< waiting bytes at which to retry
  bool torn_ = false;
  bool sync_failed_ = false;
};

/// Metrics of a run: the numbers of each key ("loss", "valid", "lr") over the steps, and those of
/// the layers' kernels under "kernels.KEY" by layer.
struct MetricsLog {
  std::map<std::string, Curve> curves;
  std::map<std::string, std::map<std::string, Curve>> kernels;
  /// Last numbers of single heads under KEY, by layer.
  std::map<std::string, std::map<std::string, std::vector<double>>> heads;
};

/// Appends a line. Throws DataError, beginning with the place, unless it is an object with a step.
void append_line(MetricsLog& log, std::string_view line, const std::string& place);
/// Parses lines of metrics; an incomplete last line is ignored. Throws DataError, which begins with
/// `source`, if another line is not a JSON object with a step.
MetricsLog read_metrics(std::string_view text, const std::string& source);
/// Adds the course of training to a page: large numbers and learning curves.
void add_learning(Page& page, const MetricsLog& log, const TrainerState& state,
                  std::size_t parameters, const std::string& loss_unit);

}  // namespace bochner
