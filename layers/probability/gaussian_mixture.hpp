#pragma once
/// Gaussian mixtures, probabilistic PCA and mixtures of it, fitted by expectation maximisation to
/// rows that may have missing entries, in double.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <cstddef>
#include <optional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Rows of d numbers with weights; NaN where an entry is missing.
struct WeightedRows {
  std::size_t d = 1;
  std::vector<double> values;        ///< (n, d)
  std::vector<double> weights = {};  ///< (n), 0 or more; none for 1 each
  std::size_t size() const { return values.size() / d; }
  double weight(std::size_t row) const { return weights.empty() ? 1 : weights[row]; }
};

struct GaussianComponent {
  double share;
  std::vector<double> mean;        ///< (d)
  std::vector<double> covariance;  ///< (d, d)
};

/// sum_k share_k N(mean_k, covariance_k), and a share of the rows that lie anywhere.
struct GaussianMixture {
  std::vector<GaussianComponent> components;
  double background = 0;  ///< the share of a uniform density; shares are 1 in all
};

struct MixtureOptions {
  /// Covariances are W W^T + s^2 I with W (d, factors): probabilistic PCA. None for full ones.
  std::optional<std::size_t> factors = {};
  double least_variance = 0;   ///< no eigenvalue of a covariance falls below
  double uniform_density = 0;  ///< of the background
  std::size_t rounds = 1000;   ///< at most
  double tolerance = 1e-10;    ///< it ends where a round gains less, in nats a row
};

/// The mixture, and ln p in nats a row before each round and at the end, which never falls.
struct FittedMixture {
  GaussianMixture mixture;
  std::vector<double> log_likelihood;
};

/// Finds a local maximum of the likelihood of the observed entries by EM. The E step expects labels
/// and missing entries; the M step is in closed form, also for few factors (Dempster,
/// Laird, Rubin, 1977; Ghahramani, Jordan, 1994; Tipping, Bishop, "Mixtures of probabilistic
/// principal component analysers", 1999, section 3.3). A round takes time n K d^2 and K d^3 for
/// each pattern of missing entries. Throws NotPositiveDefinite where a component collapses onto few
/// rows and least_variance is 0, std::invalid_argument for shapes.
FittedMixture fit_mixture(const WeightedRows& rows, GaussianMixture start,
                          const MixtureOptions& how = {});

/// Returns a start for fit_mixture(): K components at the centres of k-means, each with the
/// covariance of all rows; missing entries are taken to be the mean of their column.
GaussianMixture initial_mixture(const WeightedRows& rows, std::size_t K);
/// Starts at the centres of k-means from random starts instead.
GaussianMixture initial_mixture(const WeightedRows& rows, std::size_t K,
                                const RandomFunction& random);

/// The posterior of the labels of rows: responsibilities (n, K), and ln p of each row (n).
struct LabelPosterior {
  std::vector<double> responsibilities, log_density;
};
/// Returns it given the observed entries. Responsibilities of a row sum to 1 less that of the
/// background.
LabelPosterior label_posterior(const GaussianMixture& mixture, const WeightedRows& rows,
                               double uniform_density = 0);

/// Returns the loadings W of probabilistic PCA, covariance = W W^T + s^2 I, longest column first.
/// Tipping, Bishop, "Probabilistic principal component analysis", 1999, (7). (d, d) -> (d, factors)
std::vector<double> loadings(const GaussianComponent& component, std::size_t factors);

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
