#pragma once
/// Gaussian process that predicts the scores of untried points of the unit cube, with the
/// likelihood of gaussian_likelihood.hpp; expected improvement on the lowest score.

#include <bochner/autodiff/ops/likelihood/gaussian_likelihood.hpp>
#include <bochner/train/sweep/search/space.hpp>
#include <cstdint>
#include <set>
#include <vector>

namespace bochner {

/// Matern's kernel of order 5/2, k = variance (1 + s + s^2/3) exp(-s), s^2 = 5 sum_j rates_j
/// (x_j - z_j)^2; on an axis without order the difference is 0 or 1.
struct SurrogateKernel {
  std::vector<double> rates;  ///< per axis: 1 / length^2
  double variance = 1;
  double noise = 1e-4;  ///< variance between equal points
};

/// Points in rows (n, d), with a score and its variance of uncertainty per point.
struct Scored {
  std::vector<bool> ordered;  ///< (d,)
  std::vector<double> points = {}, scores = {}, variances = {};

  std::size_t axes() const { return ordered.size(); }
  std::size_t count() const { return scores.size(); }
  void add(const std::vector<double>& point, double score, double variance = 0) {
    points.insert(points.end(), point.begin(), point.end());
    scores.push_back(score);
    variances.push_back(variance);
  }
};

/// Prediction of the function, without noise, with gradients with respect to the point.
struct Prediction {
  double mean = 0, deviation = 0;
  std::vector<double> mean_gradient, deviation_gradient;  ///< (d,), 0 on axes without order
};

class Surrogate {
 public:
  /// Conditions on at least one row. Throws NotPositiveDefinite.
  Surrogate(Scored data, SurrogateKernel kernel);
  const Scored& data() const { return data_; }
  const SurrogateKernel& kernel() const { return kernel_; }

  /// Predicts at a point (d,); with gradients on request.
  Prediction predict(const std::vector<double>& point, bool gradients = false) const;
  double mean(const std::vector<double>& point) const;
  double log_evidence() const { return state_.log_likelihood; }

 private:
  Scored data_;
  SurrogateKernel kernel_;
  FactoredCovariance state_;
};

/// Returns -ln p(scores, kernel) of ln rates, ln variance, ln noise, and its gradient (d + 2,). The
/// priors are those of Optuna's Gaussian processes: p(rate) ~ exp(-0.1/rate - 0.1 rate), variance ~
/// Gamma(2, 1), noise ~ Gamma(1.1, 30). Infinite if the matrix is not positive definite.
double surrogate_energy(const Scored& data, const std::vector<double>& logarithms,
                        std::vector<double>& gradient);
/// Fits the kernel that minimises surrogate_energy(), from a few fixed starts.
SurrogateKernel fit_kernel(const Scored& data);

/// Returns ln(z Phi(z) + phi(z)), the logarithm of the expected improvement of a standard normal
/// score with the best one at z; finite however small that is. Uses a continued fraction of Mills'
/// ratio where the terms would cancel. `slope` is its derivative. Ament et al., "Unexpected
/// improvements to expected improvement", 2023.
double log_improvement(double z, double* slope = nullptr);

/// Returns the values of largest expected improvement below `best` that are not in `known`: among
/// Sobol points and local maxima from the best of them, by the gradient along continuous axes and
/// by trying all levels of the others. Nothing if all of these are known.
std::optional<Values> most_promising(const Space& space, const Surrogate& surrogate, double best,
                                     const std::set<Values>& known, std::uint64_t seed,
                                     std::uint64_t number);

/// Returns the first of the points of the unit cube (count, size()) whose values are not known.
std::optional<Values> first_unknown(const Space& space, const std::vector<double>& points,
                                    const std::set<Values>& known);

}  // namespace bochner
