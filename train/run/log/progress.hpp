#pragma once
/// Progress of a run for its user: a bar on a terminal, plain lines elsewhere.

#include <chrono>
#include <cstdint>
#include <string>

namespace bochner {

class Json;
class LiveLog;

enum class ProgressMode { automatic, bar, plain, none };

/// Parses "auto", "bar", "plain" or "none"; throws std::invalid_argument with the choices.
ProgressMode progress_mode(const std::string& name);

class Progress {
 public:
  Progress(ProgressMode mode, std::uint64_t total_steps, std::uint64_t tokens_per_step,
           std::uint64_t first_step);
  ~Progress();

  /// Copies all further lines and metrics to a log, whatever the mode; the log must outlive this.
  void follow(LiveLog& live_log) { live_log_ = &live_log; }
  void line(const std::string& text);
  /// Writes a warning to the standard error, in every mode.
  void warning(const std::string& text);
  /// Shows the present state: redraws the bar, at most ten times a second.
  void step(std::uint64_t step, double loss, double learning_rate);
  /// Passes a line of metrics after `seconds` of training to the live log.
  void metrics(const Json& line, double seconds);
  /// Shows the mean loss since the last call: a line if there is no bar.
  void log(std::uint64_t step, double loss, double learning_rate);

 private:
  using Clock = std::chrono::steady_clock;
  std::string status(std::uint64_t step, double loss, double learning_rate) const;
  void erase_bar();

  bool bar_, plain_, drawn_ = false;
  LiveLog* live_log_ = nullptr;
  std::uint64_t total_, tokens_per_step_, first_;
  Clock::time_point start_ = Clock::now(), last_drawn_{};
};

}  // namespace bochner
