#include <algorithm>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/minimise.hpp>
#include <bochner/layers/forecasts/forecast_member.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using std::numbers::pi;

constexpr std::size_t most_seen = 300, fewest_seen = 12, longest_series = 1500;
constexpr double jitter = 1e-6;

/// Logarithms of the numbers of the kernel, times in seasons. Means of their priors, whose
/// deviations are 1, are those that the paper learned from the M3 monthly series.
enum Number : std::size_t {
  seasonal_variance,
  seasonal_width,
  slope_variance,
  smooth_variance,
  smooth_length,
  first_variance,
  first_decay,
  first_period,
  second_variance,
  second_decay,
  second_period,
  noise,
  numbers
};
constexpr double prior_means[numbers] = {-1.5, 0.2, -1.5, -1.5, 1.1, -1.5,
                                         -0.7, 0.5, -1.5, 1.1,  1.6, -1.5};

/// Rows in units of their deviation, and the time of a row.
struct ProcessSeries {
  std::vector<double> values;
  double mean = 0, deviation = 1, step = 1;  ///< step: seasons from row to row

  std::size_t size() const { return values.size(); }
  /// Returns the time of row i, half a span before and after the middle: -1 to 1.
  double slope_at(std::size_t i) const {
    return size() > 1 ? 2 * double(i) / double(size() - 1) - 1 : 0;
  }
};

ProcessSeries process_series(Rows rows, std::size_t season) {
  constexpr double unit_without_season = 10;  // rows
  const Rows seen = rows.last(std::min(rows.size(), most_seen));
  ProcessSeries series{{seen.begin(), seen.end()}};
  const double n = double(seen.size());
  series.mean = std::accumulate(seen.begin(), seen.end(), 0.0) / n;
  double squares = 0;
  for (const double x : seen) squares += (x - series.mean) * (x - series.mean);
  if (squares > 0) series.deviation = std::sqrt(squares / n);
  for (double& x : series.values) x = (x - series.mean) / series.deviation;
  series.step = 1 / (season > 1 ? double(season) : unit_without_season);
  return series;
}

/// A term of the covariance at a distance, and its derivatives by the logarithms.
struct KernelTerm {
  double value;
  double slopes[3];
};

/// Covariances by distance in rows, and their derivatives; the slope and the noise are apart.
class ProcessKernel {
 public:
  ProcessKernel(std::span<const double> logarithms, bool seasonal) : seasonal_(seasonal) {
    for (std::size_t i = 0; i < numbers; ++i) x_[i] = std::exp(logarithms[i]);
  }

  double of_slope() const { return x_[slope_variance]; }
  double of_noise() const { return x_[noise] + jitter; }

  /// Adds the derivatives times `weight` to `gradient` (numbers) if it is not null.
  double at(double distance, double weight = 0, double* gradient = nullptr) const {
    double sum = 0;
    const auto add = [&](const KernelTerm& term, std::size_t first, std::size_t count) {
      sum += term.value;
      for (std::size_t i = 0; gradient && i < count; ++i)
        gradient[first + i] += weight * term.slopes[i];
    };
    if (seasonal_) add(seasonal(distance), seasonal_variance, 2);
    add(smooth(distance), smooth_variance, 2);
    add(wave(distance, first_variance), first_variance, 3);
    add(wave(distance, second_variance), second_variance, 3);
    return sum;
  }

 private:
  KernelTerm seasonal(double d) const {
    const double s = std::sin(pi * d) / x_[seasonal_width],
                 k = x_[seasonal_variance] * std::exp(-2 * s * s);
    return {k, {k, 4 * s * s * k}};
  }
  KernelTerm smooth(double d) const {
    const double r = d / x_[smooth_length], k = x_[smooth_variance] * std::exp(-r * r / 2);
    return {k, {k, r * r * k}};
  }
  /// A spectral component: variance, decay, period.
  KernelTerm wave(double d, std::size_t first) const {
    const double r = d / x_[first + 1], angle = 2 * pi * d / x_[first + 2],
                 envelope = x_[first] * std::exp(-r * r / 2), k = envelope * std::cos(angle);
    return {k, {k, r * r * k, envelope * std::sin(angle) * angle}};
  }

  double x_[numbers];
  bool seasonal_;
};

/// Returns the factor of the covariance of the rows. Throws NotPositiveDefinite.
std::vector<double> factor_of(const ProcessKernel& kernel, const ProcessSeries& series) {
  const std::size_t n = series.size();
  std::vector<double> by_distance(n), factor(n * n);
  for (std::size_t i = 0; i < n; ++i) by_distance[i] = kernel.at(double(i) * series.step);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      factor[i * n + j] =
          by_distance[i - j] + kernel.of_slope() * series.slope_at(i) * series.slope_at(j);
    factor[i * n + i] += kernel.of_noise();
  }
  cholesky(n, factor.data());
  return factor;
}

/// Returns K^-1 y.
std::vector<double> solved(const std::vector<double>& factor, std::vector<double> y) {
  solve_lower(y.size(), factor.data(), 1, y.data());
  solve_lower_transposed(y.size(), factor.data(), 1, y.data());
  return y;
}

/// Returns minus the log posterior of the numbers, up to a constant, and its gradient.
double process_loss(const std::vector<double>& x, const ProcessSeries& series, bool seasonal,
                    std::vector<double>& gradient) {
  const std::size_t n = series.size();
  const ProcessKernel kernel(x, seasonal);
  std::vector<double> factor = factor_of(kernel, series);
  const std::vector<double> alpha = solved(factor, series.values);
  double loss = log_determinant_of_factor(n, factor.data()) / 2;
  for (std::size_t i = 0; i < n; ++i) loss += alpha[i] * series.values[i] / 2;
  invert_from_factor(n, factor.data());
  // d loss / d K = (K^-1 - alpha alpha^T) / 2, summed by distance
  std::vector<double> by_distance(n);
  double of_slope = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double twice = i == j ? 0.5 : 1,
                   part = twice * (factor[i * n + j] - alpha[i] * alpha[j]);
      by_distance[i - j] += part;
      of_slope += part * series.slope_at(i) * series.slope_at(j);
    }
  std::ranges::fill(gradient, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    kernel.at(double(i) * series.step, by_distance[i], gradient.data());
  gradient[slope_variance] += of_slope * kernel.of_slope();
  gradient[noise] += by_distance[0] * (kernel.of_noise() - jitter);
  for (std::size_t i = 0; i < numbers; ++i) {
    const double off = x[i] - prior_means[i];
    loss += off * off / 2;
    gradient[i] += off;
  }
  return loss;
}

/// Returns the period, in rows, at the top of the periodogram of rows without their linear trend.
double strongest_period(const ProcessSeries& series) {
  const std::size_t n = series.size();
  double slope = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    slope += series.values[i] * series.slope_at(i);
    squares += series.slope_at(i) * series.slope_at(i);
  }
  slope /= squares;
  double top = 0, period = double(n);
  for (std::size_t k = 2; k <= n / 2; ++k) {
    double re = 0, im = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double angle = 2 * pi * double(k * i % n) / double(n),
                   x = series.values[i] - slope * series.slope_at(i);
      re += x * std::cos(angle);
      im += x * std::sin(angle);
    }
    if (re * re + im * im > top) top = re * re + im * im, period = double(n) / double(k);
  }
  return period;
}

/// State: the logarithms of the kernel's numbers.
class ProcessMember : public ForecastMember {
 public:
  explicit ProcessMember(const MemberSpec& spec) : horizon_(spec.horizon), season_(spec.season()) {}

  std::size_t size() const override { return numbers; }
  std::size_t least_rows() const override { return fewest_seen; }

  bool fit(Rows rows, std::span<double> state) const override {
    if (rows.size() < fewest_seen || rows.size() > longest_series) return false;
    const ProcessSeries series = process_series(rows, season_);
    std::vector<double> low, high;
    for (const double mean : prior_means) low.push_back(mean - 5), high.push_back(mean + 5);
    const SmoothFunction f = [&](const std::vector<double>& x, std::vector<double>& gradient) {
      try {
        return process_loss(x, series, season_ > 1, gradient);
      } catch (const NotPositiveDefinite&) {
        return double(INFINITY);
      }
    };
    Minimum best{{}, INFINITY};
    for (std::vector<double>& start : starts(series)) {
      Minimum found = minimise_in_box(f, std::move(start), low, high, 1e-3, 60);
      if (found.value < best.value) best = std::move(found);
    }
    if (best.x.empty()) return false;
    std::ranges::copy(best.x, state.begin());
    return true;
  }

  std::vector<double> forecast(Rows rows, std::span<const double> state) const override {
    const ProcessSeries series = process_series(rows, season_);
    const ProcessKernel kernel(state, season_ > 1);
    const std::vector<double> alpha = solved(factor_of(kernel, series), series.values);
    const std::size_t n = series.size();
    std::vector<double> values(horizon_);
    for (std::size_t h = 0; h < horizon_; ++h) {
      for (std::size_t i = 0; i < n; ++i)
        values[h] += alpha[i] * (kernel.at(double(n + h - i) * series.step) +
                                 kernel.of_slope() * series.slope_at(n + h) * series.slope_at(i));
      values[h] = series.mean + series.deviation * values[h];
    }
    return values;
  }

 private:
  /// Returns the means of the priors, and those with the first wave at the strongest period.
  static std::vector<std::vector<double>> starts(const ProcessSeries& series) {
    const std::vector<double> means(std::begin(prior_means), std::end(prior_means));
    std::vector<std::vector<double>> starts = {means, means};
    const double period = std::log(strongest_period(series) * series.step);
    const auto within = [&](Number i, double x) {
      return std::clamp(x, prior_means[i] - 5, prior_means[i] + 5);
    };
    starts[1][first_period] = within(first_period, period);
    starts[1][first_decay] = within(first_decay, period + std::log(2.0));
    return starts;
  }

  std::size_t horizon_, season_;
};

}  // namespace

MemberPtr make_process(const MemberSpec& spec) { return std::make_unique<ProcessMember>(spec); }

}  // namespace bochner::inline BOCHNER_PRECISION
