#pragma once
/// SIGINT, SIGTERM and the end of the terminal (SIGHUP) ask for a save at the end of the step; a
/// second one ends the process at once. So do SIGUSR2 and SIGXCPU, by which batch systems and
/// limits tell that the time is over. SIGUSR1 asks for a checkpoint without stopping. SIGPIPE is
/// ignored: a run outlives the reader of its output; so is SIGXFSZ: a write says that a file is too
/// large.

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>

namespace bochner {

/// A signal came before anything was begun that could be saved.
struct StoppedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// From here on no signal ends this process: they wait until one of the next two is called.
void hold_signals();
/// Signals that would end the process without a word say one, wherever no guard heeds them; a
/// mapped file that cannot be read any more is an error of one line.
void speak_of_signals();
/// From here on signals arrive on a thread of their own, in this thread and all that it starts not
/// at all: the kernels of oneDNN use the stack pointer for arrays on the heap, and a signal that
/// interrupts one writes its frame into whatever lies below them. Calls
/// speak_of_signals().
void receive_signals_apart();
/// In a process forked from such a one, which has no such thread: signals end it as usual.
void receive_signals_here();

/// Calls hold_signals(); the destructor undoes what that and the others have changed in this thread
/// and of the handlers.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  static constexpr std::array changed = {SIGXFSZ, SIGCHLD, SIGUSR1, SIGUSR2, SIGXCPU, SIGBUS};
  sigset_t mask_;
  std::array<struct sigaction, changed.size()> actions_;
};

class SignalGuard {
 public:
  /// Installs the handlers; the destructor restores the old ones. One at a time.
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  bool stop_requested() const;
  /// The signal that asked for it, 0 where none has.
  int asked_by() const;
  /// One that another process of the run was sent: the next one here is not yet a second one.
  void adopt_stop(int signal);
  /// "SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2" or "SIGXCPU" after a stop was requested.
  std::string stop_name() const;
  /// Whether a checkpoint was asked for since the last call.
  bool take_save_request();

 private:
  int adopted_ = 0;
};

}  // namespace bochner
