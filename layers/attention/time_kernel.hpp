#pragma once
#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/attention/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The factor of attention weights that depends on time alone, learned per head. By Bochner's
/// theorem exp(-lag / tau) is a Cauchy density on the axis of time, and its products with cos(nu
/// lag) are shifted ones.
///   decay     exp(-lag / tau)
///   rotation  exp(-lag / tau) (1 + b^2 / 2 cos(nu lag)), 0 < b < 1: a mixture of Cauchy densities
///             at 0 and at -nu and nu, never negative
///   gate      exp(-sum of softplus(w . x + b) over the tokens passed): each token decides how much
///             of the past it keeps (gated linear attention; Yang et al., 2024)
class TimeKernel : public Module {
 public:
  TimeKernel(const TimeKernelSpec& spec, std::size_t heads, std::size_t width);
  bool active() const { return kind_ != "none"; }
  /// What is lost from token to token: (H), or (B, T, H) where it depends on the token or tokens
  /// are at irregular distances; a Var that does not exist if the kind is "none". x (B, T, D)
  Var rate(Tape& tape, const Var& x, const Layout& layout = {});
  /// (nu, b^2 / 2) of each head (H, 2); does not exist without rotation.
  Var rotation(Tape& tape);
  /// The features of the rotation at T tokens from time `first` on (B, T, H, 3), or (1, T, H, 3)
  /// where tokens are at equal distances; a Var that does not exist without rotation.
  Var turns(Tape& tape, const Layout& layout, std::size_t T, double first);
  void visit(Visitor& visitor) override;

 private:
  std::string kind_;
  Parameter log_rate_, log_frequency_, logit_;  // (H)
  Parameter gate_, gate_bias_;                  // (D, H), (H)
};

/// Features times those of a rotation, (.., F) -> (.., 3F); themselves where it does not exist.
Features turned(const Features& features, const Var& turns);

/// When the tokens of a batch are: sums of the gaps (B, T), or first, first + 1, ... (1, T).
Times times_of(const Layout& layout, std::size_t T, double first);

}  // namespace bochner::inline BOCHNER_PRECISION
