#pragma once
/// SIGINT, SIGTERM and the end of the terminal (SIGHUP) ask for a save at the end of the step; a
/// second one ends the process at once. SIGUSR1 asks for a checkpoint without stopping. SIGPIPE is
/// ignored: a run outlives the reader of its output.

#include <string>

namespace bochner {

/// From here on signals arrive on a thread of their own, in this thread and all that it starts not
/// at all: the kernels of oneDNN use the stack pointer for arrays on the heap, and a signal that
/// interrupts one writes its frame into whatever lies below them.
void receive_signals_apart();
/// In a process forked from such a one, which has no such thread: signals end it as usual.
void receive_signals_here();

class SignalGuard {
 public:
  /// Installs the handlers; the destructor restores the old ones. One at a time.
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  bool stop_requested() const;
  /// "SIGINT", "SIGTERM" or "SIGHUP" after a stop was requested.
  std::string stop_name() const;
  /// Whether a checkpoint was asked for since the last call.
  bool take_save_request();
};

}  // namespace bochner
