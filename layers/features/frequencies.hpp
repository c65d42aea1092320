#pragma once
/// What feature maps by random frequencies share, and the exponential ones among them.

#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/features/projection.hpp>
#include <bochner/layers/spectral/importance_proposal.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The frequencies of a feature map, (H, m, d): draws of the spectral density, or of a Projection
/// under a learned diagonal scale that starts at density.log_scale. With a spread s > 0 head h also
/// has a learned factor, which starts at exp(s_h), s_h evenly spaced on [-s, s]. With importance
/// sampling a Proposal draws in place of the density.
class Frequencies : public Module {
 public:
  explicit Frequencies(const FeatureSpec& spec);
  Var draws(Tape& tape) {
    return kept(tape, this, [&] { return new_draws(tape); });
  }
  /// ln of the weights that they stand for the density by, with importance sampling. -> (H, m)
  Var log_ratio(Tape& tape);
  /// Null without importance sampling.
  Proposal* proposal() const { return proposal_.get(); }
  /// Null with a projection.
  SpectralDensity* density() const { return density_.get(); }
  void visit(Visitor& visitor) override;

 private:
  Var new_draws(Tape& tape);

  std::unique_ptr<SpectralDensity> density_;
  std::unique_ptr<Proposal> proposal_;
  std::unique_ptr<Projection> projection_;
  Parameter log_scale_;       // (H, 1, d), with a projection
  Parameter log_head_scale_;  // (H, 1, 1), with a spread
};

/// y = x / d^(1/4), so that y . y' = x . x' / sqrt(d). (.., d) -> (.., d)
Var softmax_scaled(const Var& x);

/// One sample of a head, in double. (n, H, d) -> (d)
std::vector<double> sample_of(const Tensor& samples, std::size_t row, std::size_t head);

/// softmax_scaled() of samples of one head, in double. (n, H, d), n > 0 -> (n, d)
std::vector<double> scaled_samples(const Tensor& samples, std::size_t head, std::size_t d);

/// log phi_i(x) = w_i . y - c |y|^2 + offset_i - log(m) / 2, y = x / d^(1/4): logarithms of
/// exponential features, normalised so that phi(x) . phi(x') is a mean over i. `offset` (H, m) may
/// be left out.
/// (B, T, H, d), (H, m, d) -> (B, T, H, m)
Var exponents(const Var& x, const Var& w, double c, const Var& offset = {});
/// The features themselves, as a rule that attention follows in cache.
Features exponential(const Var& x, const Var& w, double c, const Var& offset = {});

}  // namespace bochner::inline BOCHNER_PRECISION
