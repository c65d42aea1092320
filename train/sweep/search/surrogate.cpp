#include <algorithm>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/low_discrepancy.hpp>
#include <bochner/base/numeric/minimise.hpp>
#include <bochner/train/sweep/search/surrogate.hpp>
#include <cmath>
#include <limits>
#include <numbers>
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

constexpr std::size_t candidates = 2048, refined = 8, rounds = 3;
constexpr double log_sqrt_two_pi = log_two_pi / 2;

std::vector<double> point_of(const std::vector<double>& points, std::size_t row, std::size_t d) {
  const auto begin = points.begin() + std::ptrdiff_t(row * d);
  return {begin, begin + std::ptrdiff_t(d)};
}

/// Point and the logarithm of its expected improvement.
struct Candidate {
  std::vector<double> point;
  double gain;
};

class Maximiser {
 public:
  Maximiser(const Space& space, const Surrogate& surrogate, double best)
      : space_(space), surrogate_(surrogate), best_(best) {}

  double gain(const std::vector<double>& point) const {
    const Prediction there = surrogate_.predict(point);
    return std::log(there.deviation) + log_improvement((best_ - there.mean) / there.deviation);
  }

  /// Climbs from the point, alternating between axes with levels and the others.
  Candidate refine(Candidate from) const {
    for (std::size_t round = 0; round < rounds; ++round) {
      const double before = from.gain;
      from = along_gradient(from);
      for (std::size_t axis = 0; axis < space_.size(); ++axis)
        if (!space_.is_continuous(axis)) from = over_levels(from, axis);
      if (from.gain - before < 1e-6) break;
    }
    return from;
  }

 private:
  /// Climbs in units of the kernel's lengths, not to the maximum: where the expectation is flat, as
  /// far from all known points, the maximum is a corner of the cube, and trials should differ.
  Candidate along_gradient(const Candidate& from) const {
    const Values values = space_.at(from.point);
    std::vector<double> lengths, start, low, high;
    for (std::size_t i = 0; i < space_.size(); ++i) {
      const bool moves = space_.is_continuous(i) && !values[i].empty();
      lengths.push_back(1 / std::sqrt(surrogate_.kernel().rates[i]));
      start.push_back(from.point[i] / lengths[i]);
      low.push_back(moves ? 0 : start[i]);
      high.push_back(moves ? 1 / lengths[i] : start[i]);
    }
    if (low == high) return from;
    const auto place = [&](std::vector<double> scaled) {
      for (std::size_t i = 0; i < scaled.size(); ++i)
        scaled[i] = low[i] < high[i] ? std::min(1.0, scaled[i] * lengths[i]) : from.point[i];
      return scaled;
    };
    const SmoothFunction loss = [&](const std::vector<double>& scaled,
                                    std::vector<double>& gradient) {
      const Prediction there = surrogate_.predict(place(scaled), true);
      const double z = (best_ - there.mean) / there.deviation;
      double slope = 0;
      const double value = std::log(there.deviation) + log_improvement(z, &slope);
      for (std::size_t i = 0; i < scaled.size(); ++i)
        gradient[i] =
            lengths[i] *
            (slope * there.mean_gradient[i] - (1 - slope * z) * there.deviation_gradient[i]) /
            there.deviation;
      return -value;
    };
    const Minimum found = minimise_in_box(loss, start, low, high, 1e-2);
    return -found.value > from.gain ? Candidate{place(found.x), -found.value} : from;
  }

  Candidate over_levels(Candidate best, std::size_t axis) const {
    std::vector<double> point = best.point;
    for (const double level : space_.levels(axis)) {
      point[axis] = level;
      // Conditions may add values of other keys there, or remove them.
      const std::vector<double> place = space_.place(space_.at(point));
      if (const double gain = this->gain(place); gain > best.gain) best = {place, gain};
    }
    return best;
  }

  const Space& space_;
  const Surrogate& surrogate_;
  double best_;
};

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

double log_improvement(double z, double* slope) {
  if (z > -5) {
    const double density = std::exp(-z * z / 2 - log_sqrt_two_pi);
    const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
    const double improvement = density + z * below;
    if (slope) *slope = below / improvement;
    return std::log(improvement);
  }
  // Mills' ratio is 1 / (t + 1 / (t + 2 / (t + 3 / ...))) for t = -z; 1 - t times it is rest / (t +
  // rest), with the rest of the fraction after the first t.
  const double t = -z;
  double rest = 0;
  for (int k = 60; k >= 1; --k) rest = k / (t + rest);
  if (slope) *slope = 1 / rest;
  return -t * t / 2 - log_sqrt_two_pi + std::log(rest / (t + rest));
}

std::optional<Values> first_unknown(const Space& space, const std::vector<double>& points,
                                    const std::set<Values>& known) {
  for (std::size_t i = 0; i < points.size() / space.size(); ++i) {
    const Values values = space.at(point_of(points, i, space.size()));
    if (!known.contains(values)) return values;
  }
  return std::nullopt;
}

std::optional<Values> most_promising(const Space& space, const Surrogate& surrogate, double best,
                                     const std::set<Values>& known, std::uint64_t seed,
                                     std::uint64_t number) {
  const std::size_t d = space.size();
  const std::vector<double> points =
      sobol_points(SobolRandomisation::owen, 1, candidates, d, {seed, Purpose::sampling, number});
  const Maximiser maximiser(space, surrogate, best);
  std::vector<Candidate> found;
  for (std::size_t i = 0; i < candidates; ++i) {
    const std::vector<double> place = space.place(space.at(point_of(points, i, d)));
    found.push_back({place, maximiser.gain(place)});
  }
  const auto more = [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; };
  std::ranges::stable_sort(found, more);
  // Also from the best known place: the optimum is often near it.
  const Scored& data = surrogate.data();
  const auto least = std::ranges::min_element(data.scores) - data.scores.begin();
  const std::vector<double> known_best = point_of(data.points, std::size_t(least), d);
  std::vector<Candidate> starts(found.begin(), found.begin() + refined);
  starts.push_back({known_best, maximiser.gain(known_best)});
  for (const Candidate& start : starts) {
    // Values are written with four digits.
    const Values values = space.at(maximiser.refine(start).point);
    const std::vector<double> place = space.place(values);
    found.push_back({place, maximiser.gain(place)});
  }
  std::ranges::stable_sort(found, more);
  for (const Candidate& candidate : found) {
    const Values values = space.at(candidate.point);
    if (!known.contains(values)) return values;
  }
  return std::nullopt;
}

}  // namespace bochner
