#pragma once
#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/basic/linear.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// What all attention shares: queries, keys and values by head, and the way back.
class Projections : public Module {
 public:
  explicit Projections(const MixerSpec& spec);
  struct Heads {
    Var q, k, v;  ///< (B, T, H, d)
  };
  /// Queries and keys are rotated if the mixer is rotary, positions counting from `first`. (B, T,
  /// D) -> (B, T, H, d) each
  Heads split(Tape& tape, const Var& x, std::size_t first);
  /// (B, T, H, d) -> (B, T, D)
  Var join(Tape& tape, const Var& y);
  void visit(Visitor& visitor) override;

 private:
  std::size_t heads_;
  bool rotary_;
  Linear query_, key_, value_, output_;
};

/// exp(-lag / tau) per head, learned as log(1 / tau).
class TimeKernel : public Module {
 public:
  TimeKernel(const TimeKernelSpec& spec, std::size_t heads);
  /// 1 / tau of each head, (H); a Var that does not exist if the kind is "none".
  Var rate(Tape& tape);
  void visit(Visitor& visitor) override;

 private:
  bool active_;
  Parameter log_rate_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
