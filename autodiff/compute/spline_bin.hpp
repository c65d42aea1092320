#pragma once
/// Monotone rational-quadratic splines, one bin at a time, in double. Gregory and Delbourgo, 1982;
/// Durkan, Bekasov, Murray, Papamakarios, "Neural spline flows", 2019.

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace bochner {

/// The ends (x0, y0), (x1, y1) of a bin and the slopes there; x0 < x1, y0 < y1, slopes positive.
struct SplineBin {
  double x0, x1, y0, y1, slope0, slope1;

  double width() const { return x1 - x0; }
  double height() const { return y1 - y0; }
  double mean_slope() const { return height() / width(); }
  double curvature() const { return slope0 + slope1 - 2 * mean_slope(); }

  /// The spline and its derivative at x in the bin.
  struct Point {
    double y, slope;
  };
  Point at(double x) const {
    const double u = (x - x0) / width(), t = u * (1 - u), mean = mean_slope();
    const double denominator = mean + curvature() * t;
    const double rise = (mean * u * u + slope0 * t) / denominator;
    const double along = slope1 * u * u + 2 * mean * t + slope0 * (1 - u) * (1 - u);
    return {y0 + height() * rise, mean * mean * along / (denominator * denominator)};
  }

  /// Returns x with at(x).y = y: the root of a quadratic, in the form that does not cancel. a =
  /// mean - b is positive where b is not.
  double inverse(double y) const {
    const double part = (y - y0) / height(), mean = mean_slope();
    const double a = mean - slope0 + part * curvature();
    const double b = slope0 - part * curvature(), c = -mean * part;
    const double root = std::sqrt(std::max(0.0, b * b - 4 * a * c));
    return x0 + width() * (b < 0 ? (root - b) / (2 * a) : -2 * c / (b + root));
  }

  struct Gradient {
    double x, x0, x1, y0, y1, slope0, slope1;
  };
  Gradient gradient(double x) const {
    const double w = width(), h = height(), mean = mean_slope(), bend = curvature();
    const double u = (x - x0) / w, t = u * (1 - u), denominator = mean + bend * t;
    const double rise = (mean * u * u + slope0 * t) / denominator;
    const double by_u =
        h * (2 * mean * u + slope0 * (1 - 2 * u) - rise * bend * (1 - 2 * u)) / denominator;
    const double by_mean = h * (u * u - rise * (1 - 2 * t)) / denominator;
    return {by_u / w,
            (by_u * (u - 1) + by_mean * mean) / w,
            -(by_u * u + by_mean * mean) / w,
            1 - rise - by_mean / w,
            rise + by_mean / w,
            h * t * (1 - rise) / denominator,
            -h * t * rise / denominator};
  }
};

/// Returns the bin of `knots` ascending numbers that contains x; `knots` - 1 if none does.
template <class Number>
std::size_t bin_of(const Number* knot, std::size_t knots, double x) {
  if (!(x >= double(knot[0]) && x < double(knot[knots - 1]))) return knots - 1;
  std::size_t k = 0;
  while (x >= double(knot[k + 1])) ++k;
  return k;
}

}  // namespace bochner
