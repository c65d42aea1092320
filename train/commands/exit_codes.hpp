#pragma once
/// How the command ends.

namespace bochner {

enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,    ///< internal error, or a loss that is not finite
  exit_usage = 2,     ///< wrong words or a bad config
  exit_data = 65,     ///< files that cannot be used: texts, checkpoints
  exit_io = 74,       ///< the system refused to read or write
  exit_stopped = 75,  ///< stopped by a signal or a time limit; can be resumed
};

}  // namespace bochner
