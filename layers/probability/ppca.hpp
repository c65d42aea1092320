#pragma once
/// Probabilistic PCA: rows are mean + W z + noise with z (q) standard normal. Tipping, Bishop,
/// "Probabilistic principal component analysis", 1999. Mixtures of it and rows with missing
/// entries: MixtureOptions::factors.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/probability/gaussian_mixture.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct ProbabilisticPca {
  std::vector<double> mean;      ///< (d)
  std::vector<double> loadings;  ///< W (d, q), orthogonal columns, longest first
  double noise = 1;              ///< variance
  std::size_t factors() const { return loadings.size() / mean.size(); }
  /// W W^T + noise I. -> (d, d)
  std::vector<double> covariance() const;
  /// ln p of each row, without a (d, d) matrix. rows (n, d) -> (n)
  std::vector<double> log_densities(const std::vector<double>& rows) const;
  /// The posterior means of z, (W^T W + noise I)^-1 W^T (x - mean). rows (n, d) -> (n, q)
  std::vector<double> latents(const std::vector<double>& rows) const;
};

/// The maximum of the likelihood in closed form, equations 7 and 8. rows (n, d), 1 <= factors < d;
/// time n d^2 + d^3. Throws std::invalid_argument for shapes.
ProbabilisticPca fit_ppca(const std::vector<double>& rows, std::size_t d, std::size_t factors);

/// The model that EM found, and ln p in nats a row before each round and at the end, which never
/// falls.
struct PcaByEm {
  ProbabilisticPca model;
  std::vector<double> log_likelihood;
};
/// Equations 29 to 31, from random loadings. A round takes time n d q, for many dimensions.
PcaByEm fit_ppca_by_em(const std::vector<double>& rows, std::size_t d, std::size_t factors,
                       const RandomFunction& random, std::size_t rounds = 1000,
                       double tolerance = 1e-10);

}  // namespace bochner::inline BOCHNER_PRECISION
