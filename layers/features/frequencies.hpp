#pragma once
/// Frequencies of random feature maps, structured ones, and exponential features.

#include <bochner/base/registry.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/spectral/importance_proposal.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct ProjectionSpec {
  std::size_t heads = 1, m = 64, dim = 32;
  std::uint64_t seed = 1;
};

/// Rows that start as draws of N(0, I) or near it, computed once per pass: for d up to a hundred, a
/// product (tokens x m x d) is faster than a fast transform per token.
class Projection : public Module {
 public:
  /// Returns the rows. -> (H, m, d)
  virtual Var rows(Tape& tape) = 0;
};

/// Registry of "fastfood", "sorf", "radial"; add custom projections here.
Registry<Projection, ProjectionSpec>& projections();

/// Returns the quantile function at 0 < t < 1 of chi_d, the length of a draw of N(0, I_d).
double chi_quantile(double t, std::size_t d);

/// Frequencies of a feature map, (H, m, d): draws of the density, or a Projection times a learned
/// diagonal scale that starts at density.log_scale. A spread s > 0 adds a learned factor per head,
/// initially exp(s_h), s_h evenly spaced on [-s, s]. Importance sampling draws from a Proposal.
class Frequencies : public Module {
 public:
  explicit Frequencies(const FeatureSpec& spec);
  Var draws(Tape& tape) {
    return cached(tape, this, [this, &tape] { return new_draws(tape); });
  }
  /// Returns the log importance weights, with importance sampling. -> (H, m)
  Var log_ratio(Tape& tape) {
    require(proposal_ != nullptr, "frequencies", "log_ratio() requires a proposal");
    return proposal_->log_ratio(tape, *density_);
  }
  /// Returns null without importance sampling.
  Proposal* proposal() const { return proposal_.get(); }
  /// Returns null with a projection.
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

/// Computes y = x / d^(1/4), so that y . y' = x . x' / sqrt(d). (.., d) -> (.., d)
Var softmax_scaled(const Var& x);

/// Returns one sample of a head, in double. (n, H, d) -> (d)
std::vector<double> sample_of(const Tensor& samples, std::size_t row, std::size_t head);

/// Returns softmax_scaled() of the samples of one head, in double. (n, H, d), n > 0 -> (n, d)
std::vector<double> scaled_samples(const Tensor& samples, std::size_t head, std::size_t d);

/// Computes log phi_i(x) = w_i . y - c |y|^2 + offset_i - log(m) / 2, y = x / d^(1/4), so that
/// phi(x) . phi(x') is a mean over i. `offset` (H, m) is optional. (B, T, H, d), (H, m, d) -> (B,
/// T, H, m)
Var exponents(const Var& x, const Var& w, double c, const Var& offset = {});
/// Returns features with the logarithms exponents(), in a form that attention evaluates in cache.
Features exponential(const Var& x, const Var& w, double c, const Var& offset = {});

// Features of y = x / d^(1/4) by frequencies w_i (H, m, d), from N(0, I) in formulas, and from a
// learned density in models.

/// Returns w and -w, which turn positive features into hyperbolic ones. (H, m, d) -> (H, 2m, d)
Var both_signs(const Var& w);
/// Returns the bound on |y|^2 / 2 in trigonometric features, 36 in float, which keeps sums of
/// products over a million tokens finite. Estimates are noise long before.
double max_trigonometric_exponent();
/// Computes trigonometric features of x. (.., H, d), (H, m, d) -> (.., H, 2m)
Var trigonometric_features(const Var& x, const Var& w);
/// Computes [cos(w_i . y), sin(w_i . y)] / sqrt(m), for the Gaussian kernel. (.., H, d), (H, m, d)
/// -> (.., H, 2m)
Var fourier_features(const Var& y, const Var& w);

}  // namespace bochner::inline BOCHNER_PRECISION
