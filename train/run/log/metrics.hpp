#pragma once
/// metrics.jsonl: lines at a known byte offset, cut back on resume to what the checkpoint knows;
/// and read as curves for the report of a run.

#include <bochner/train/charts/chart.hpp>
#include <bochner/train/storage/storage.hpp>
#include <cstdint>
#include <map>

namespace bochner {

class Page;
struct TrainerState;

/// Digests of the lines of a text: one for each, or for so many that follow each other.
struct LineDigests {
  std::vector<std::uint32_t> values = {};
  std::uint64_t lines = 1;  ///< of each, but the last one may have fewer
};
/// At most a thousand of them, however many lines there are.
LineDigests bounded(const std::vector<std::uint32_t>& of_lines);

class MetricsFile {
 public:
  /// Created when missing.
  MetricsFile(FileStorage& storage, Path path);
  /// Adds a line (without its end). Lines that the disk does not take wait in memory, and problem()
  /// says why; they are tried again with the next line, many only when there are twice as many, and
  /// by flush().
  void append(const std::string& line);
  /// Writes the lines that wait, if the disk takes them.
  void flush();
  /// Returns when the lines of the file are on the disk.
  void sync();
  /// Cuts what is beyond; durable when it returns. Then the lines that waited when the checkpoint
  /// was written follow. Returns what was wrong with the lines that were cut, "" if they were
  /// whole. Throws DataError when the file is shorter, or when lines have not their digest of
  /// `digests`; without these lines are not compared.
  std::string rewind(std::uint64_t bytes, const LineDigests& digests = {},
                     const std::string& waiting = {});
  /// Of the file, without what waits.
  std::uint64_t bytes() const { return bytes_; }
  /// One for each line of the file.
  const std::vector<std::uint32_t>& digests() const { return digests_; }
  /// Lines that are not in the file, with their ends.
  const std::string& waiting() const { return waiting_; }
  /// Why lines wait; "" when none does.
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
  std::size_t next_try_ = 0;  ///< bytes that wait then
  bool torn_ = false;
  bool sync_failed_ = false;
};

/// The numbers of each key ("loss", "valid", "lr") over the steps, and those of the layers' kernels
/// under "kernels.KEY" by layer.
struct MetricsLog {
  std::map<std::string, Curve> curves;
  std::map<std::string, std::map<std::string, Curve>> kernels;
  /// The last numbers of single heads under KEY, by layer.
  std::map<std::string, std::map<std::string, std::vector<double>>> heads;
};

/// One line more. Throws DataError, which begins with the place, where it is no JSON object with a
/// step.
void append_line(MetricsLog& log, std::string_view line, const std::string& place);
/// `source` stands in errors. A last line without its end is left out; throws DataError when
/// another one is no JSON object with a step.
MetricsLog read_metrics(std::string_view text, const std::string& source);
/// How the training went: large numbers and learning curves.
void add_learning(Page& page, const MetricsLog& log, const TrainerState& state,
                  std::size_t parameters, const std::string& loss_unit);

}  // namespace bochner
