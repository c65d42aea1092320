#include <algorithm>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/minimise.hpp>
#include <bochner/train/sweep/search/surrogate.hpp>
#include <cmath>
#include <limits>
#include <utility>

namespace bochner {
namespace {

constexpr double least_noise = 1e-6;

double difference_on(const Scored& data, std::size_t axis, double a, double b) {
  return data.ordered[axis] ? a - b : double(a != b);
}

/// sum_j rates_j (a_j - b_j)^2
double squared_distance(const Scored& data, const std::vector<double>& rates, const double* a,
                        const double* b) {
  double sum = 0;
  for (std::size_t j = 0; j < rates.size(); ++j) {
    const double difference = difference_on(data, j, a[j], b[j]);
    sum += rates[j] * difference * difference;
  }
  return sum;
}

/// Matern's function of the squared distance, and its derivative.
double matern(double squared) {
  const double s = std::sqrt(5 * squared);
  return (1 + s + s * s / 3) * std::exp(-s);
}
double matern_slope(double squared) {
  const double s = std::sqrt(5 * squared);
  return -5.0 / 6 * (1 + s) * std::exp(-s);
}

const double* row(const Scored& data, std::size_t i) {
  return data.points.data() + i * data.axes();
}

/// With noise on the diagonal; lower triangle.
std::vector<double> covariance(const Scored& data, const SurrogateKernel& kernel) {
  const std::size_t n = data.count();
  std::vector<double> matrix(n * n);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < a; ++b)
      matrix[a * n + b] = kernel.variance *
                          matern(squared_distance(data, kernel.rates, row(data, a), row(data, b)));
    matrix[a * n + a] = kernel.variance + kernel.noise + data.variances[a];
  }
  return matrix;
}

std::vector<double> solved(std::size_t n, const std::vector<double>& factor,
                           std::vector<double> right) {
  solve_lower(n, factor.data(), 1, right.data());
  solve_lower_transposed(n, factor.data(), 1, right.data());
  return right;
}

double log_evidence_of(const std::vector<double>& factor, const std::vector<double>& weights,
                       const std::vector<double>& scores) {
  const std::size_t n = scores.size();
  double square = 0;
  for (std::size_t i = 0; i < n; ++i) square += scores[i] * weights[i];
  return -(square + log_determinant_of_factor(n, factor.data()) + double(n) * log_two_pi) / 2;
}

SurrogateKernel kernel_of(const std::vector<double>& logarithms) {
  SurrogateKernel kernel;
  const std::size_t d = logarithms.size() - 2;
  for (std::size_t j = 0; j < d; ++j) kernel.rates.push_back(std::exp(logarithms[j]));
  kernel.variance = std::exp(logarithms[d]);
  kernel.noise = std::exp(logarithms[d + 1]);
  return kernel;
}

/// -ln of the priors; their gradient is added.
double prior_energy(const SurrogateKernel& kernel, std::vector<double>& gradient) {
  const std::size_t d = kernel.rates.size();
  double energy = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const double rate = kernel.rates[j];
    energy += 0.1 / rate + 0.1 * rate;
    gradient[j] += 0.1 * rate - 0.1 / rate;
  }
  energy += kernel.variance - std::log(kernel.variance);
  gradient[d] += kernel.variance - 1;
  energy += 30 * kernel.noise - 0.1 * std::log(kernel.noise);
  gradient[d + 1] += 30 * kernel.noise - 0.1;
  return energy;
}

/// Adds that of -ln p(scores): tr((K^-1 - w w^T) dK) / 2. `inverse` has its lower triangle.
void add_evidence_gradient(const Scored& data, const SurrogateKernel& kernel,
                           const std::vector<double>& inverse, const std::vector<double>& weights,
                           std::vector<double>& gradient) {
  const std::size_t n = data.count(), d = data.axes();
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double share = inverse[a * n + b] - weights[a] * weights[b];
      const double *x = row(data, a), *z = row(data, b);
      const double squared = squared_distance(data, kernel.rates, x, z);
      const double slope = share * kernel.variance * matern_slope(squared);
      for (std::size_t j = 0; j < d; ++j) {
        const double difference = difference_on(data, j, x[j], z[j]);
        gradient[j] += slope * kernel.rates[j] * difference * difference;
      }
      gradient[d] += share * kernel.variance * matern(squared);
    }
    const double share = (inverse[a * n + a] - weights[a] * weights[a]) / 2;
    gradient[d] += share * kernel.variance;
    gradient[d + 1] += share * kernel.noise;
  }
}

}  // namespace

Surrogate::Surrogate(Scored data, SurrogateKernel kernel)
    : data_(std::move(data)), kernel_(std::move(kernel)), factor_(covariance(data_, kernel_)) {
  cholesky(data_.count(), factor_.data());
  weights_ = solved(data_.count(), factor_, data_.scores);
  log_evidence_ = log_evidence_of(factor_, weights_, data_.scores);
}

double Surrogate::mean(const std::vector<double>& point) const {
  double mean = 0;
  for (std::size_t i = 0; i < data_.count(); ++i)
    mean += weights_[i] * kernel_.variance *
            matern(squared_distance(data_, kernel_.rates, point.data(), row(data_, i)));
  return mean;
}

Prediction Surrogate::predict(const std::vector<double>& point, bool gradients) const {
  const std::size_t n = data_.count(), d = data_.axes();
  std::vector<double> squared(n), cross(n);
  for (std::size_t i = 0; i < n; ++i) {
    squared[i] = squared_distance(data_, kernel_.rates, point.data(), row(data_, i));
    cross[i] = kernel_.variance * matern(squared[i]);
  }
  std::vector<double> half = cross;
  solve_lower(n, factor_.data(), 1, half.data());
  Prediction result;
  double explained = 0;
  for (std::size_t i = 0; i < n; ++i) {
    result.mean += weights_[i] * cross[i];
    explained += half[i] * half[i];
  }
  result.deviation = std::sqrt(std::max(kernel_.variance - explained, 1e-12 * kernel_.variance));
  if (!gradients) return result;
  solve_lower_transposed(n, factor_.data(), 1, half.data());  // K^-1 times the cross covariance
  result.mean_gradient.resize(d);
  result.deviation_gradient.resize(d);
  for (std::size_t i = 0; i < n; ++i) {
    const double slope = kernel_.variance * matern_slope(squared[i]);
    for (std::size_t j = 0; j < d; ++j) {
      if (!data_.ordered[j]) continue;
      const double change = slope * 2 * kernel_.rates[j] * (point[j] - row(data_, i)[j]);
      result.mean_gradient[j] += weights_[i] * change;
      result.deviation_gradient[j] -= half[i] * change / result.deviation;
    }
  }
  return result;
}

double surrogate_energy(const Scored& data, const std::vector<double>& logarithms,
                        std::vector<double>& gradient) try {
  const std::size_t n = data.count();
  const SurrogateKernel kernel = kernel_of(logarithms);
  std::vector<double> matrix = covariance(data, kernel);
  cholesky(n, matrix.data());
  const std::vector<double> weights = solved(n, matrix, data.scores);
  const double evidence = log_evidence_of(matrix, weights, data.scores);
  invert_from_factor(n, matrix.data());
  std::ranges::fill(gradient, 0);
  add_evidence_gradient(data, kernel, matrix, weights, gradient);
  return prior_energy(kernel, gradient) - evidence;
} catch (const NotPositiveDefinite&) {
  return std::numeric_limits<double>::infinity();
}

SurrogateKernel fit_kernel(const Scored& data) {
  const std::size_t d = data.axes();
  const SmoothFunction energy = [&](const std::vector<double>& at, std::vector<double>& gradient) {
    return surrogate_energy(data, at, gradient);
  };
  std::vector<double> low(d + 2, std::log(1e-4)), high(d + 2, std::log(1e4));
  low[d + 1] = std::log(least_noise);
  high[d + 1] = 0;
  std::vector<double> best;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [rate, noise] : {std::pair(1.0, 1.0), {10.0, 1e-4}, {0.1, 1e-3}}) {
    std::vector<double> start(d + 2, std::log(rate));
    start[d] = 0;
    start[d + 1] = std::log(noise);
    const Minimum found = minimise_in_box(energy, start, low, high);
    if (best.empty() || found.value < least) {
      best = found.x;
      least = found.value;
    }
  }
  return kernel_of(best);
}

}  // namespace bochner
