#pragma once
/// Gaussians of which some coordinates are seen.

#include <bochner/autodiff/real.hpp>
#include <bochner/layers/probability/gaussian_mixture.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The rows that lack the same entries.
struct SeenEntries {
  std::vector<std::size_t> seen, missing;  ///< coordinates
  std::vector<std::size_t> rows;
};
/// Groups rows (n, d) by their missing entries, which are NaN; in a fixed order.
std::vector<SeenEntries> patterns_of(const std::vector<double>& values, std::size_t d);

/// A Gaussian given the coordinates that are seen. Throws NotPositiveDefinite.
class SeenGaussian {
 public:
  SeenGaussian(const GaussianComponent& component, const SeenEntries& entries);
  /// ln p of what is seen of a row (d).
  double log_density(const double* row) const;
  /// row - mean, where it is missing as expected given what is seen. (d) -> (d)
  void deviation(const double* row, double* y) const;
  /// squares += weight times the covariance of what is missing. (d, d)
  void add_missing_covariance(double weight, double* squares) const;

 private:
  const GaussianComponent& component_;
  const SeenEntries& entries_;
  std::vector<double> factor_;   // of the covariance of what is seen
  std::vector<double> gain_;     // (missing, seen): C_ms C_ss^-1
  std::vector<double> missing_;  // (missing, missing): C_mm - C_ms C_ss^-1 C_sm
  double log_scale_ = 0;
};

}  // namespace bochner::inline BOCHNER_PRECISION
