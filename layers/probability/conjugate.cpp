#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/layers/probability/conjugate.hpp>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {

GammaPoisson GammaPoisson::posterior(const std::vector<std::size_t>& counts) const {
  const double sum = double(std::accumulate(counts.begin(), counts.end(), std::size_t(0)));
  return {{prior.shape + sum, prior.rate + double(counts.size())}};
}

NormalGamma NormalGamma::posterior(const std::vector<double>& numbers) const {
  NormalGamma after = *this;
  for (const double x : numbers) {
    const double away = x - after.mean, stronger = after.strength + 1;
    after.precision.rate += after.strength / stronger * away * away / 2;
    after.precision.shape += 0.5;
    after.mean += away / stronger;
    after.strength = stronger;
  }
  return after;
}

void NormalWishart::move(const double* row, double sign) {
  const std::size_t d = mean.size();
  const double moved = strength + sign, factor = sign * strength / moved;
  std::vector<double> away(d);
  for (std::size_t i = 0; i < d; ++i) away[i] = row[i] - mean[i];
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j) squares[i * d + j] += factor * away[i] * away[j];
  for (std::size_t i = 0; i < d; ++i) mean[i] += sign * away[i] / moved;
  strength = moved;
  degrees += sign;
}

StudentDistribution NormalWishart::predictive() const {
  const double free = degrees - double(mean.size()) + 1;
  StudentDistribution next{free, mean, squares};
  for (double& x : next.scale) x *= (strength + 1) / (strength * free);
  return next;
}

double NormalWishart::log_integral() const {
  const std::size_t d = mean.size();
  std::vector<double> factor = squares;
  cholesky(d, factor.data());
  return log_multivariate_gamma(d, degrees / 2) -
         degrees / 2 * log_determinant_of_factor(d, factor.data()) -
         double(d) / 2 * std::log(strength);
}

}  // namespace bochner::inline BOCHNER_PRECISION
