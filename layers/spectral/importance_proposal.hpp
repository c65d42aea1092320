#pragma once
/// Importance sampling: frequencies of one density that stand for another by their weights.

#include <bochner/layers/spectral/density.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The density q = `spec.proposal` that frequencies are drawn from in place of p, whose spec it
/// takes: E_p f(w) = E_q f(w) p(w) / q(w). q is frozen (its parameters are buffers); p learns
/// through the weights. Kahn and Marshall, "Methods of reducing sample size", 1953.
class Proposal : public Module {
 public:
  explicit Proposal(const DensitySpec& spec);
  /// The frequencies in use: as SpectralDensity::draws(). -> (H, m, d)
  Tensor draws(const Tape& tape);
  /// ln p(w) - ln q(w) of them. -> (H, m)
  Var log_ratio(Tape& tape, SpectralDensity& target);
  /// Starts it as p is started, wider by spec.proposal_scale: SpectralDensity::init_log_scale().
  void init_log_scale(std::vector<double> log_scale);
  void visit(Visitor& visitor) override;

  SpectralDensity& density() const { return *density_; }  ///< q

 private:
  double log_widening_;
  std::unique_ptr<SpectralDensity> density_;
};

/// How many independent draws of p weights p / q are worth, given their logarithms: (sum w)^2 / sum
/// w^2. Kong, 1992.
double effective_sample_size(const std::vector<double>& log_weights);

}  // namespace bochner::inline BOCHNER_PRECISION
