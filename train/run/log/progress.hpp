#pragma once
/// Progress of a run for its user: a bar on a terminal, plain lines elsewhere. Size and
/// characters of the terminal of the standard output.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bochner {

struct TerminalSize {
  std::size_t columns = 80, rows = 24;  ///< if unknown
};
TerminalSize terminal_size();
/// Whether the environment indicates UTF-8 and a terminal that can show block characters.
bool shows_blocks();

/// Lines that overwrite each other. On a terminal they must not be wider than it is.
class LinesInPlace {
 public:
  /// Writes the lines with their ends; flush the standard output afterwards.
  void show(const std::vector<std::string>& lines);

 private:
  std::size_t shown_ = 0;
};

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
  /// Writes a line to the standard output in every mode.
  void result(const std::string& text);
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
