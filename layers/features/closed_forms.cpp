#include <bochner/layers/features/closed_forms.hpp>

namespace bochner::inline BOCHNER_PRECISION {

namespace {

std::vector<double> sum_of(const ScaledPair& pair, double sign) {
  std::vector<double> z(pair.x);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] += sign * pair.y[i];
  return z;
}

/// E cos^2(w . (x - y))
double cosine_second_moment(const ScaledPair& pair, const WeightedMoment& moment) {
  const std::vector<double> lag = sum_of(pair, -1);
  return (moment(0, lag) + moment({0, 2}, lag)) / 2;
}

}  // namespace

ScaledPair::ScaledPair(std::span<const double> q, std::span<const double> k)
    : x(q.begin(), q.end()), y(k.begin(), k.end()) {
  const double scale = std::pow(double(q.size()), -0.25);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] *= scale, y[i] *= scale;
    xx += x[i] * x[i], yy += y[i] * y[i], xy += x[i] * y[i];
  }
}

double trigonometric_variance(const ScaledPair& pair) {
  return std::exp(pair.xx + pair.yy) * std::pow(-std::expm1(-pair.difference()), 2) / 2;
}

double positive_variance(const ScaledPair& pair) {
  return std::exp(2 * pair.xy) * std::expm1(pair.sum());
}

double hyperbolic_variance(const ScaledPair& pair) {
  return std::exp(2 * pair.xy + pair.sum()) * std::pow(-std::expm1(-pair.sum()), 2) / 2;
}

double covariance_with_trigonometric(const ScaledPair& pair) {
  return -std::exp(2 * pair.xy) * (1 - std::cos(pair.xx - pair.yy));
}

double fourier_variance(const ScaledPair& pair) {
  return std::pow(-std::expm1(-pair.difference()), 2) / 2;
}

double normal_moment(std::complex<double> c, const std::vector<double>& z) {
  double square = 0;
  for (const double e : z) square += e * e;
  return std::exp((c * c).real() * square / 2);
}

WeightedMoment importance_moment(const GaussianAxes& p, const GaussianAxes& q) {
  return [p, q](std::complex<double> c, const std::vector<double>& z) {
    std::complex<double> exponent = 0;
    for (std::size_t l = 0; l < z.size(); ++l) {  // in units of p
      const double scale = std::exp(p.log_scale[l]), log_scale = q.log_scale[l] - p.log_scale[l];
      const double mean = (q.mean[l] - p.mean[l]) / scale;
      const double precision = std::exp(-2 * log_scale), a = 2 - precision;
      if (a <= 0) return std::numeric_limits<double>::infinity();
      const std::complex<double> slope = c * z[l] * scale - mean * precision;
      exponent += c * z[l] * p.mean[l] + slope * slope / (2 * a) + mean * mean * precision / 2 +
                  log_scale - std::log(a) / 2;
    }
    return std::exp(exponent).real();
  };
}

double positive_second_moment(const ScaledPair& pair, const WeightedMoment& moment) {
  return std::exp(-pair.xx - pair.yy) * moment(2, sum_of(pair, 1));
}

double pff_second_moment(const ScaledPair& pair, const WeightedMoment& moment) {
  return std::exp(-2 * pair.xx - 2 * pair.yy) * moment(2, sum_of(pair, 1));
}

double hyperbolic_second_moment(const ScaledPair& pair, const WeightedMoment& moment) {
  const std::vector<double> z = sum_of(pair, 1);
  return std::exp(-pair.xx - pair.yy) * (moment(2, z) + 2 * moment(0, z) + moment(-2, z)) / 4;
}

double trigonometric_second_moment(const ScaledPair& pair, const WeightedMoment& moment) {
  return std::exp(pair.xx + pair.yy) * cosine_second_moment(pair, moment);
}

double fourier_second_moment(const ScaledPair& pair, const WeightedMoment& moment) {
  return cosine_second_moment(pair, moment);
}

namespace {

/// Angle w . (a x - b y) + v . (c x - d y) for integers a .. d.
struct PairAngle {
  double a, b, c, d;

  /// Returns E cos(angle).
  double cosine(const ScaledPair& pair, double rho) const {
    const auto dot = [&](double f, double g, double h, double i) {  // (f x - g y) . (h x - i y)
      return f * h * pair.xx + g * i * pair.yy - (f * i + g * h) * pair.xy;
    };
    return std::exp(-(dot(a, b, a, b) + dot(c, d, c, d) + 2 * rho * dot(a, b, c, d)) / 2);
  }
  PairAngle plus(const PairAngle& other, double sign) const {
    return {a + sign * other.a, b + sign * other.b, c + sign * other.c, d + sign * other.d};
  }
};

/// Angles whose cosines the estimate averages.
constexpr PairAngle pair_angles[] = {{1, 1, 0, 0}, {0, 0, 1, 1}, {1, 0, 0, 1}, {0, 1, 1, 0}};

}  // namespace

double nonstationary_kernel(const ScaledPair& pair, double rho) {
  double sum = 0;
  for (const PairAngle& angle : pair_angles) sum += angle.cosine(pair, rho);
  return sum / 4;
}

double nonstationary_variance(const ScaledPair& pair, double rho) {
  double second = 0;
  for (const PairAngle& first : pair_angles) {
    for (const PairAngle& angle : pair_angles)
      second += (first.plus(angle, 1).cosine(pair, rho) + first.plus(angle, -1).cosine(pair, rho));
  }
  return second / 32 - std::pow(nonstationary_kernel(pair, rho), 2);
}

double optimal_exponent(double d, double phi) {
  return (d - 2 * phi - std::sqrt(std::pow(2 * phi + d, 2) + 8 * d * phi)) / (16 * d);
}

double optimal_log_rho(double d, double phi) { return -std::log1p(-8 * optimal_exponent(d, phi)); }

double optimal_second_moment(double x, double y, double r) {
  const double g = (1 + r) / 2;  // 1 - 4A
  return std::exp(2 * g * std::pow(x + y, 2) / r - x * x - y * y) * g / std::sqrt(r);
}

}  // namespace bochner::inline BOCHNER_PRECISION
