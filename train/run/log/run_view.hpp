#pragma once
/// What the files of a run say, without its model and its checkpoints: read again and again while
/// it trains.

#include <bochner/train/config/period.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/run/log/metrics.hpp>
#include <string>
#include <utility>
#include <vector>

namespace bochner {

/// Names of keys and their values as TOML.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// How far a run is. One that ended before its time was stopped, killed, or has failed.
enum class RunPhase { missing, training, stopped, done };
const char* name_of(RunPhase phase);

class RunView {
 public:
  /// `storage` must outlive it. The run need not be there yet.
  RunView(FileStorage& storage, const Path& path);
  /// Reads what is new and says whether anything is. Throws ConfigError, IoError, and DataError
  /// for a run of another format version.
  bool refresh();

  const Path& path() const { return path_; }
  RunPhase phase() const { return phase_; }
  /// Every key of the config.
  const Settings& settings() const { return settings_; }
  /// "" where there is no such key.
  std::string setting(std::string_view key) const;
  /// The checkpoint from which the run was forked, or "".
  const std::string& parent() const { return parent_; }
  const MetricsLog& metrics() const { return metrics_; }
  /// Of one key of the metrics; empty where nothing was logged.
  const Curve& curve(const std::string& key) const;
  /// "seconds" of training and bytes of "memory" over the steps.
  const Curve& clock(const std::string& key) const;
  /// The last step with a line of metrics, and the part of the training that is done then, 0 to 1.
  double step() const;
  double progress() const;
  /// Seconds of training until a step, by straight lines between those of the clock and beyond
  /// them; nothing without any.
  std::optional<double> seconds_at(double step) const;
  /// Which line of the metrics is none, "" where all are in order; it is left out.
  const std::string& problem() const { return problem_; }

 private:
  bool read_config();
  bool read_metrics_lines();
  bool read_clock();
  bool read_console();
  RunPhase phase_now() const;

  FileStorage* storage_;
  Path path_;
  FileTail metrics_file_, clock_file_, console_file_;
  std::string config_text_;
  Settings settings_;
  Period steps_;
  std::string parent_, problem_, last_words_;
  MetricsLog metrics_, clock_;
  std::size_t lines_ = 0;
  RunPhase phase_ = RunPhase::missing;
};

/// The directory itself where it is one of a run, or those of runs in it, as a sweep leaves them.
std::vector<Path> runs_in(FileStorage& storage, const Path& directory);

}  // namespace bochner
