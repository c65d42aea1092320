#pragma once
/// Process state of a command: streams, signals, terminate handler.

#include <bochner/train/run/signals.hpp>
#include <exception>

namespace bochner {

/// Prepares a process for commands: opens standard streams that are closed, requires the processor
/// that the sources are compiled for, holds signals (signals.hpp), and sets a terminate handler
/// that ends the process with code 1 and `out_of_memory` if an allocation failed. May be called
/// before static objects are made.
void begin_program();

/// Calls begin_program(); the destructor restores the signals and the terminate handler of the
/// program that called cli().
class ProgramScope {
 public:
  ProgramScope() { begin_program(); }
  ~ProgramScope() { std::set_terminate(terminate_before_); }
  ProgramScope(const ProgramScope&) = delete;
  ProgramScope& operator=(const ProgramScope&) = delete;

 private:
  HeldSignals signals_;
  std::terminate_handler terminate_before_ = std::get_terminate();
};

inline constexpr const char* usual_memory_advice =
    "out of memory; lower train.batch or data.length, or set model.checkpoint = true";
/// The line printed when an allocation fails.
extern const char* out_of_memory;

}  // namespace bochner
