#pragma once
#include <bochner/layers/impulse_response.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Linear system with diagonal states, the core of a form of mixer "ssm". Both directions are
/// systems whose outputs are summed, each with the token itself. The impulse response is that to
/// the past, per channel, or per state if channels share states.
class DiagonalSystem : public Module, public ImpulseResponse {
 public:
  /// Applies the system. (B, T, D) -> (B, T, D)
  virtual Var forward(Tape& tape, const Var& u, const Layout& layout) = 0;
  virtual Tensor start(std::size_t B) const = 0;
  /// Processes the next token of each sequence, `gap` after the previous one (1 for the first), and
  /// updates the states. (B, 1, D) -> (B, 1, D)
  virtual Var step(Tape& tape, const Var& u, Tensor& states, double gap) = 0;
};

/// Makes forms "s4d", "dss" and "ema", with states per channel.
std::unique_ptr<DiagonalSystem> make_channel_states(const SsmSpec& spec, std::size_t width,
                                                    bool causal);
/// Makes forms "s5" and "lru", with states shared by all channels.
std::unique_ptr<DiagonalSystem> make_shared_states(const SsmSpec& spec, std::size_t width,
                                                   bool causal);

}  // namespace bochner::inline BOCHNER_PRECISION
