#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/layers/probability/conjugate.hpp>
#include <limits>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {

GammaPoisson GammaPoisson::posterior(const std::vector<std::size_t>& counts) const {
  const double sum = double(std::accumulate(counts.begin(), counts.end(), std::size_t(0)));
  return {{prior.shape + sum, prior.rate + double(counts.size())}};
}

ParetoUniform ParetoUniform::posterior(const std::vector<double>& numbers) const {
  ParetoUniform after = *this;
  for (const double x : numbers) after.prior.scale = std::max(after.prior.scale, x);
  after.prior.shape += double(numbers.size());
  return after;
}

double ParetoUniform::log_predictive(double x) const {
  if (!(x > 0)) return -std::numeric_limits<double>::infinity();
  const auto [shape, scale] = prior;
  return std::log(shape / ((shape + 1) * scale)) - (shape + 1) * std::log(std::max(x / scale, 1.0));
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

NormalWishart NormalWishart::posterior(double weight, const std::vector<double>& centre,
                                       const std::vector<double>& scatter) const {
  const std::size_t d = mean.size();
  NormalWishart after = *this;
  after.strength += weight;
  after.degrees += weight;
  const double factor = strength * weight / after.strength;
  for (std::size_t i = 0; i < d; ++i) {
    const double away = centre[i] - mean[i];
    after.mean[i] += weight / after.strength * away;
    for (std::size_t j = 0; j < d; ++j)
      after.squares[i * d + j] += scatter[i * d + j] + factor * away * (centre[j] - mean[j]);
  }
  return after;
}

WishartDistribution NormalWishart::precision() const {
  return {degrees, inverse_of(squares, mean.size())};
}

std::vector<double> NormalWishart::expected_covariance() const {
  std::vector<double> covariance = squares;
  for (double& x : covariance) x /= degrees - double(mean.size()) - 1;
  return covariance;
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

double kl_divergence(const NormalWishart& p, const NormalWishart& q) {
  const double d = double(p.mean.size()), ratio = q.strength / p.strength;
  std::vector<double> factor = p.squares, away = p.mean;
  for (std::size_t i = 0; i < away.size(); ++i) away[i] -= q.mean[i];
  cholesky(away.size(), factor.data());
  solve_lower(away.size(), factor.data(), 1, away.data());
  double square = 0;
  for (const double x : away) square += x * x;
  return (d * (ratio - 1 - std::log(ratio)) + q.strength * p.degrees * square) / 2 +
         kl_divergence(p.precision(), q.precision());
}

}  // namespace bochner::inline BOCHNER_PRECISION
