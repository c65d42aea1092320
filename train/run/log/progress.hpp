#pragma once
/// What a user sees of a run: a bar on a terminal, plain lines elsewhere.

#include <chrono>
#include <cstdint>
#include <string>

namespace bochner {

class Json;
class LiveLog;

enum class ProgressMode { automatic, bar, plain, none };

/// "auto", "bar", "plain", "none"; throws std::invalid_argument with the choices.
ProgressMode progress_mode(const std::string& name);

class Progress {
 public:
  Progress(ProgressMode mode, std::uint64_t total_steps, std::uint64_t tokens_per_step,
           std::uint64_t first_step);
  ~Progress();

  /// From now on lines and metrics go there too, whatever the mode; it must live as long.
  void follow(LiveLog& live_log) { live_log_ = &live_log; }
  /// A line that stays.
  void line(const std::string& text);
  /// A line that also those see who want no progress: on the standard error.
  void warning(const std::string& text);
  /// The present state: redraws the bar, at most ten times a second.
  void step(std::uint64_t step, double loss, double learning_rate);
  /// A line of metrics after so many seconds of training, for those who follow.
  void metrics(const Json& line, double seconds);
  /// The mean loss since the last call: a line where there is no bar.
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
