#include <bochner/autodiff/compute/math.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/layers/probability/linear_regression.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

double log_determinant(std::vector<double> a, std::size_t d) {
  cholesky(d, a.data());
  return log_determinant_of_factor(d, a.data());
}

/// x^T A x of x = a - b. A (d, d)
double quadratic_form(const std::vector<double>& A, const std::vector<double>& a,
                      const std::vector<double>& b) {
  const std::size_t d = a.size();
  double sum = 0;
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j) sum += A[i * d + j] * (a[i] - b[i]) * (a[j] - b[j]);
  return sum;
}

double residual_square(const std::vector<double>& inputs, const std::vector<double>& targets,
                       const std::vector<double>& weights) {
  const std::size_t d = weights.size();
  double sum = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    double residual = targets[i];
    for (std::size_t j = 0; j < d; ++j) residual -= inputs[i * d + j] * weights[j];
    sum += residual * residual;
  }
  return sum;
}

}  // namespace

NormalGammaRegression NormalGammaRegression::posterior(const std::vector<double>& inputs,
                                                       const std::vector<double>& targets) const {
  const std::size_t d = mean.size(), n = targets.size();
  require(d >= 1 && precision.size() == d * d && inputs.size() == n * d, "linear_regression", n,
          " targets, ", inputs.size(), " inputs for ", d, " weights with a precision of ",
          precision.size(), " entries");
  NormalGammaRegression after = *this;
  std::vector<double> moment(d);
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j) moment[i] += precision[i * d + j] * mean[j];
  for (std::size_t row = 0; row < n; ++row) {
    const double* x = inputs.data() + row * d;
    for (std::size_t i = 0; i < d; ++i) {
      moment[i] += x[i] * targets[row];
      for (std::size_t j = 0; j < d; ++j) after.precision[i * d + j] += x[i] * x[j];
    }
  }
  std::vector<double> factor = after.precision;
  cholesky(d, factor.data());
  solve_lower(d, factor.data(), 1, moment.data());
  solve_lower_transposed(d, factor.data(), 1, moment.data());
  after.mean = std::move(moment);
  after.noise.shape += double(n) / 2;
  after.noise.rate +=
      (residual_square(inputs, targets, after.mean) + quadratic_form(precision, after.mean, mean)) /
      2;
  return after;
}

StudentDistribution NormalGammaRegression::predictive(const std::vector<double>& row) const {
  const std::size_t d = mean.size();
  double centre = 0;
  for (std::size_t j = 0; j < d; ++j) centre += row.at(j) * mean[j];
  const double spread = 1 + quadratic_form(inverse_of(precision, d), row, std::vector<double>(d));
  return {2 * noise.shape, {centre}, {noise.rate / noise.shape * spread}};
}

double NormalGammaRegression::log_evidence(const std::vector<double>& inputs,
                                           const std::vector<double>& targets) const {
  const NormalGammaRegression after = posterior(inputs, targets);
  const std::size_t d = mean.size();
  return (log_determinant(precision, d) - log_determinant(after.precision, d) -
          double(targets.size()) * log_two_pi) /
             2 +
         noise.shape * std::log(noise.rate) - after.noise.shape * std::log(after.noise.rate) +
         std::lgamma(after.noise.shape) - std::lgamma(noise.shape);
}

MeanFieldRegression fit_mean_field(const NormalGammaRegression& prior,
                                   const std::vector<double>& inputs,
                                   const std::vector<double>& targets, const AscentOptions& how) {
  // The best q(w) has the exact posterior's mean and shape for any q(noise); only its size changes.
  const NormalGammaRegression exact = prior.posterior(inputs, targets);
  const std::size_t d = prior.mean.size();
  const double n = double(targets.size()), free = n + double(d);
  const double square = residual_square(inputs, targets, exact.mean) +
                        quadratic_form(prior.precision, exact.mean, prior.mean);
  const double log_prior_determinant = log_determinant(prior.precision, d);
  const std::vector<double> inverse = inverse_of(exact.precision, d);
  MeanFieldRegression q{{exact.mean, inverse}, prior.noise, {}};
  for (std::size_t round = 0;; ++round) {
    const double noise_precision = q.noise.mean();
    for (std::size_t i = 0; i < d * d; ++i) q.weights.covariance[i] = inverse[i] / noise_precision;
    const double expected_square = square + double(d) / noise_precision;
    q.noise = {prior.noise.shape + free / 2, prior.noise.rate + expected_square / 2};
    const double log_precision = special::digamma(q.noise.shape) - std::log(q.noise.rate);
    std::vector<double>& path = q.lower_bound;
    path.push_back((free * (log_precision - log_two_pi) + log_prior_determinant -
                    q.noise.mean() * expected_square) /
                       2 +
                   q.weights.entropy() - kl_divergence(q.noise, prior.noise));
    if (round == how.rounds || (round > 0 && path[round] - path[round - 1] < how.tolerance * n))
      return q;
  }
}

}  // namespace bochner::inline BOCHNER_PRECISION
