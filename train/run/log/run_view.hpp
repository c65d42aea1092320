#pragma once
/// View of a run's files, without its model and its checkpoints: read repeatedly while it trains.

#include <bochner/train/config/period.hpp>
#include <bochner/train/run/log/file_tail.hpp>
#include <bochner/train/run/log/metrics.hpp>

namespace bochner {

/// Keys and their values as TOML.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Phase of a run; one that ended early was stopped, killed, or has failed.
enum class RunPhase { missing, training, stopped, done };
const char* name_of(RunPhase phase);

class RunView {
 public:
  /// Opens a view. `storage` must outlive it; the run need not exist yet.
  RunView(FileStorage& storage, const Path& path);
  /// Reads what is new; returns whether anything is. Throws ConfigError, IoError, DataError.
  bool refresh();

  const Path& path() const { return path_; }
  RunPhase phase() const { return phase_; }
  const Settings& settings() const { return settings_; }
  /// Returns the value of a key; "" if there is no such key.
  std::string setting(std::string_view key) const;
  /// Returns the checkpoint from which the run was forked, or "".
  const std::string& parent() const { return parent_; }
  const MetricsLog& metrics() const { return metrics_; }
  /// Returns the curve of a key of the metrics; empty if it was not logged.
  const Curve& curve(const std::string& key) const;
  /// Returns "seconds" of training or bytes of "memory" over the steps.
  const Curve& clock(const std::string& key) const;
  /// Returns the last step with a line of metrics, and the fraction of training done then, 0 to 1.
  double step() const;
  double progress() const;
  /// Returns the seconds until a step by linear interpolation and extrapolation of the clock.
  std::optional<double> seconds_at(double step) const;
  /// Returns which line of the metrics is invalid and was skipped; "" for none.
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

/// Returns the directory itself if it is a run, otherwise the runs in it, as a sweep leaves them.
std::vector<Path> runs_in(FileStorage& storage, const Path& directory);

}  // namespace bochner
