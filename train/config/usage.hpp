#pragma once
/// Exit codes of commands, and errors about what the user typed.

#include <fmt/format.h>

#include <stdexcept>

namespace bochner {

/// How a command ends.
enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,    ///< internal error, or a loss that is not finite
  exit_usage = 2,     ///< wrong words or a bad config
  exit_data = 65,     ///< files that cannot be used: texts, checkpoints
  exit_io = 74,       ///< the system refused to read or write
  exit_stopped = 75,  ///< stopped by a signal or a time limit; can be resumed
};

/// Throws std::invalid_argument, what was typed being wrong, unless the condition holds.
template <class... Args>
void demand(bool condition, fmt::format_string<const Args&...> problem, const Args&... args) {
  if (!condition) throw std::invalid_argument(fmt::format(problem, args...));
}

}  // namespace bochner
