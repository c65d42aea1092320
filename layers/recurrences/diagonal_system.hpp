#pragma once
#include <bochner/layers/impulse_response.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/recurrences/ssm_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// A linear system with diagonal states: what a form of mixer "ssm" is. Both directions are systems
/// whose answers are summed, of the token itself too. Its response is that to the past: of each
/// channel, or of each state where channels share them.
class DiagonalSystem : public Module, public ImpulseResponse {
 public:
  /// (B, T, D) -> (B, T, D)
  virtual Var forward(Tape& tape, const Var& u, const Layout& layout) = 0;
  /// States before the first tokens of B sequences.
  virtual Tensor start(std::size_t B) const = 0;
  /// The next token of each sequence, `gap` after the one before, 1 of the first; moves the states
  /// on. (B, 1, D) -> (B, 1, D)
  virtual Var step(Tape& tape, const Var& u, Tensor& states, double gap) = 0;
};

/// "s4d", "dss" or "ema": states of each channel.
std::unique_ptr<DiagonalSystem> make_channel_states(const SsmSpec& spec, std::size_t width,
                                                    bool causal);
/// "s5" or "lru": states of the layer.
std::unique_ptr<DiagonalSystem> make_shared_states(const SsmSpec& spec, std::size_t width,
                                                   bool causal);

}  // namespace bochner::inline BOCHNER_PRECISION
