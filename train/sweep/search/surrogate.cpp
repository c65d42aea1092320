#include <algorithm>
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

double squared_distance(const Scored& data, const std::vector<double>& rates, const double* a,
                        const double* b) {
  double sum = 0;
  for (std::size_t j = 0; j < rates.size(); ++j) {
    const double difference = difference_on(data, j, a[j], b[j]);
    sum += rates[j] * difference * difference;
  }
  return sum;
}

/// Returns Matern's function of the squared distance, and its derivative.
double matern(double squared) {
  const double s = std::sqrt(5 * squared);
  return (1 + s + s * s / 3) * std::exp(-s);
}
double matern_slope(double squared) {
  const double s = std::sqrt(5 * squared);
  return -5.0 / 6 * (1 + s) * std::exp(-s);
}

const double* row_of(const Scored& data, std::size_t i) {
  return data.points.data() + i * data.axes();
}

double covariance_between(const Scored& data, const SurrogateKernel& kernel, const double* a,
                          const double* b) {
  return kernel.variance * matern(squared_distance(data, kernel.rates, a, b));
}

/// Covariance of the scores (n, n); its parameter (d + 2,) has ln rates, ln variance, ln noise.
class ScoreCovariance : public Covariance {
 public:
  ScoreCovariance(const Scored& data, const SurrogateKernel& kernel)
      : data_(data), kernel_(kernel) {}

  std::size_t size() const override { return data_.count(); }

  void row(std::size_t a, double* numbers) const override {
    for (std::size_t b = 0; b < a; ++b)
      numbers[b] = covariance_between(data_, kernel_, row_of(data_, a), row_of(data_, b));
    numbers[a] = kernel_.variance + kernel_.noise + data_.variances[a];
  }

  std::vector<std::vector<double>> pull_back(const LowerRow& weights) const override {
    const std::size_t n = data_.count(), d = data_.axes();
    std::vector<double> slopes(d + 2), row(n);
    for (std::size_t a = 0; a < n; ++a) {
      weights(a, row.data());
      for (std::size_t b = 0; b < a; ++b) pull_pair(a, b, row[b], slopes);
      slopes[d] += row[a] * kernel_.variance;
      slopes[d + 1] += row[a] * kernel_.noise;
    }
    return {slopes};
  }

 private:
  void pull_pair(std::size_t a, std::size_t b, double weight, std::vector<double>& slopes) const {
    const double *x = row_of(data_, a), *z = row_of(data_, b);
    const double squared = squared_distance(data_, kernel_.rates, x, z);
    const double slope = weight * kernel_.variance * matern_slope(squared);
    for (std::size_t j = 0; j < data_.axes(); ++j) {
      const double difference = difference_on(data_, j, x[j], z[j]);
      slopes[j] += slope * kernel_.rates[j] * difference * difference;
    }
    slopes[data_.axes()] += weight * kernel_.variance * matern(squared);
  }

  const Scored& data_;
  const SurrogateKernel& kernel_;
};

SurrogateKernel kernel_of(const std::vector<double>& logarithms) {
  SurrogateKernel kernel;
  const std::size_t d = logarithms.size() - 2;
  for (std::size_t j = 0; j < d; ++j) kernel.rates.push_back(std::exp(logarithms[j]));
  kernel.variance = std::exp(logarithms[d]);
  kernel.noise = std::exp(logarithms[d + 1]);
  return kernel;
}

/// Returns -ln of the priors and adds its gradient.
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

}  // namespace

Surrogate::Surrogate(Scored data, SurrogateKernel kernel)
    : data_(std::move(data)),
      kernel_(std::move(kernel)),
      state_(factored(ScoreCovariance(data_, kernel_), data_.scores)) {}

double Surrogate::mean(const std::vector<double>& point) const {
  double mean = 0;
  for (std::size_t i = 0; i < data_.count(); ++i)
    mean += state_.alpha[i] * covariance_between(data_, kernel_, point.data(), row_of(data_, i));
  return mean;
}

Prediction Surrogate::predict(const std::vector<double>& point, bool gradients) const {
  const std::size_t n = data_.count(), d = data_.axes();
  std::vector<double> squared(n), cross(n);
  for (std::size_t i = 0; i < n; ++i) {
    squared[i] = squared_distance(data_, kernel_.rates, point.data(), row_of(data_, i));
    cross[i] = kernel_.variance * matern(squared[i]);
  }
  std::vector<double> half = cross;
  solve_lower(n, state_.factor.data(), 1, half.data());
  Prediction result;
  double explained = 0;
  for (std::size_t i = 0; i < n; ++i) {
    result.mean += state_.alpha[i] * cross[i];
    explained += half[i] * half[i];
  }
  result.deviation = std::sqrt(std::max(kernel_.variance - explained, 1e-12 * kernel_.variance));
  if (!gradients) return result;
  solve_lower_transposed(n, state_.factor.data(), 1,
                         half.data());  // K^-1 times the cross covariance
  result.mean_gradient.resize(d);
  result.deviation_gradient.resize(d);
  for (std::size_t i = 0; i < n; ++i) {
    const double slope = kernel_.variance * matern_slope(squared[i]);
    for (std::size_t j = 0; j < d; ++j) {
      if (!data_.ordered[j]) continue;
      const double change = slope * 2 * kernel_.rates[j] * (point[j] - row_of(data_, i)[j]);
      result.mean_gradient[j] += state_.alpha[i] * change;
      result.deviation_gradient[j] -= half[i] * change / result.deviation;
    }
  }
  return result;
}

double surrogate_energy(const Scored& data, const std::vector<double>& logarithms,
                        std::vector<double>& gradient) try {
  const SurrogateKernel kernel = kernel_of(logarithms);
  const ScoreCovariance covariance(data, kernel);
  FactoredCovariance state = factored(covariance, data.scores);
  gradient = likelihood_slopes(covariance, state)[0];
  for (double& slope : gradient) slope = -slope;
  return prior_energy(kernel, gradient) - state.log_likelihood;
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
