#pragma once
/// metrics.jsonl: lines at a known byte offset, cut back on resume to what the checkpoint knows;
/// and read as curves for the report of a run.

#include <bochner/train/charts/chart.hpp>
#include <bochner/train/storage/storage.hpp>
#include <map>

namespace bochner {

class Page;
struct TrainerState;

class MetricsFile {
 public:
  /// Created when missing.
  MetricsFile(FileStorage& storage, Path path);
  /// Adds a line (without its end). When it throws, the line is not part of the file.
  void append(const std::string& line);
  /// Returns when all lines are on the disk.
  void sync();
  /// Cuts what is beyond; durable when it returns. Throws DataError when the file is shorter.
  void rewind(std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }

 private:
  void drop_torn_line();
  void replace_file();

  FileStorage& storage_;
  Path path_;
  std::unique_ptr<StoredFile> file_;
  std::uint64_t bytes_;
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

/// `source` stands in errors. A last line without its end is left out; throws DataError when
/// another one is no JSON object with a step.
MetricsLog read_metrics(std::string_view text, const std::string& source);
/// How the training went: large numbers and learning curves.
void add_learning(Page& page, const MetricsLog& log, const TrainerState& state,
                  std::size_t parameters, const std::string& loss_unit);

}  // namespace bochner
