#pragma once
/// Importance sampling of frequencies from another density.

#include <bochner/layers/spectral/density.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Density q = `spec.proposal` from which frequencies are drawn instead of p, with p's spec: E_p
/// f(w) = E_q f(w) p(w) / q(w). q is frozen (its parameters are buffers); p learns through the
/// weights. Kahn and Marshall, "Methods of reducing sample size", 1953.
class Proposal : public Module {
 public:
  explicit Proposal(const DensitySpec& spec);
  /// Returns the current frequencies, as SpectralDensity::draws(). -> (H, m, d)
  Tensor draws(const Tape& tape) {
    Tape quiet({.recording = false});
    quiet.training = tape.training, quiet.step = tape.step;
    return density_->draws(quiet).value();
  }
  /// Returns ln p(w) - ln q(w) of the frequencies. -> (H, m)
  Var log_ratio(Tape& tape, SpectralDensity& target);
  /// Initializes q like p, wider by spec.proposal_scale, see SpectralDensity::init_log_scale().
  void init_log_scale(std::vector<double> log_scale) {
    for (double& each : log_scale) each += log_widening_;
    density_->init_log_scale(log_scale);
  }
  void visit(Visitor& visitor) override;

  SpectralDensity& density() const { return *density_; }  ///< q

 private:
  double log_widening_;
  std::unique_ptr<SpectralDensity> density_;
};

/// Returns the number of independent draws of p that weights p / q are worth, from their
/// logarithms: (sum w)^2 / sum w^2. Kong, 1992.
double effective_sample_size(const std::vector<double>& log_weights);

}  // namespace bochner::inline BOCHNER_PRECISION
