#pragma once
/// What a program must do before the first library of it starts, and what the command does beside
/// it to the process that it runs in.

#include <bochner/train/run/signals.hpp>
#include <exception>
#include <optional>

namespace bochner {

/// The standard streams have their places, the processor is new enough, and OpenBLAS starts no
/// threads. Whoever calls it links it in, and the loader does it before any other code.
void begin_program();

/// Signals wait until they are received, see signals.hpp; and where memory fails so that no error
/// can be thrown or told, the program ends with 1 and out_of_memory. For the program that is
/// nothing but the command, from its first instruction to its end.
void hold_program();

/// The same as long as this lives, in programs that have not called it.
class HeldProgram {
 public:
  HeldProgram();
  ~HeldProgram();
  HeldProgram(const HeldProgram&) = delete;
  HeldProgram& operator=(const HeldProgram&) = delete;

 private:
  std::optional<HeldSignals> signals_;  ///< none where the program is held already
};

/// What helps where a model is trained.
inline constexpr const char* usual_memory_advice =
    "out of memory; lower train.batch or data.length, or set model.checkpoint = true";
/// What is said where memory fails.
extern const char* out_of_memory;

}  // namespace bochner
