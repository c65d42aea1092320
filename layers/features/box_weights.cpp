#include <algorithm>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/layers/features/box_weights.hpp>
#include <cmath>
#include <complex>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns sin(x) / x; 0 for infinite x, as boxes may be arbitrarily wide.
double sinc(double x) {
  if (std::isinf(x)) return 0;
  return std::abs(x) < 1e-8 ? 1 : std::sin(x) / x;
}

/// Returns the mean of exp(-z^2 / 2) cos(z w) over |z| <= b for short waves: an asymptotic series
/// at the ends of the box by integration by parts. Exact in double for |w| >= 100.
double asymptotic_mean(double w, double b) {
  const std::complex<double> p(b, -std::abs(w)), square = p * p;
  std::complex<double> sum = 0, term = 1.0 / p;
  for (const double next : {1, 3, 5, 7, 9}) sum += term, term *= -next / square;
  return -(std::polar(std::exp(-b * b / 2), std::abs(w) * b) * sum).real() / b;
}

/// Returns the same mean by Simpson's rule with a step that resolves the waves.
double simpson_mean(double w, double b) {
  const std::size_t n = 2 * std::size_t(32 + 8 * b * (1 + std::abs(w)));
  const double step = b / double(n);
  double sum = 0;
  for (std::size_t i = 0; i <= n; ++i) {
    const double z = step * double(i);
    const double weight = i == 0 || i == n ? 1 : (i % 2 == 1 ? 4 : 2);
    sum += weight * std::exp(-z * z / 2) * std::cos(z * w);
  }
  return sum * step / 3 / b;
}

/// Returns the mean of exp(-z^2 / 2) cos(z w) over |z| <= b.
double mean_over_box(double w, double b) {
  constexpr double all = 9;  // exp(-z^2 / 2) is negligible beyond
  if (b > all) return std::sqrt(std::numbers::pi / 2) * std::exp(-w * w / 2) / b;
  const bool short_waves = std::abs(w) > 100 && std::abs(w) * b > 100;
  return short_waves ? asymptotic_mean(w, b) : simpson_mean(w, b);
}

/// Solves H x = v on the chosen indices; other elements are 0.
std::vector<double> solve_on(const std::vector<std::size_t>& chosen, const std::vector<double>& H,
                             const std::vector<double>& v) {
  std::vector<double> block, right, full(v.size());
  for (const std::size_t i : chosen) {
    right.push_back(v[i]);
    for (const std::size_t j : chosen) block.push_back(H[i * v.size() + j]);
  }
  const std::vector<double> x = solve(block, right);
  for (std::size_t i = 0; i < chosen.size(); ++i) full[chosen[i]] = x[i];
  return full;
}

/// Returns the index outside `chosen` with the largest v - H x above the tolerance, or m.
std::size_t steepest_index(const std::vector<double>& H, const std::vector<double>& v,
                           const std::vector<double>& x, const std::vector<std::size_t>& chosen) {
  const std::size_t m = v.size();
  double largest = 1e-10 * std::abs(*std::max_element(v.begin(), v.end()));  // tolerance
  std::size_t best = m;
  for (std::size_t i = 0; i < m; ++i) {
    if (std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
    double slope = v[i];
    for (std::size_t j = 0; j < m; ++j) slope -= H[i * m + j] * x[j];
    if (slope > largest) largest = slope, best = i;
  }
  return best;
}

/// Moves x towards `target` until the first chosen element reaches 0, and removes it from `chosen`.
/// Returns true if `target` was reached.
bool move(std::vector<double>& x, const std::vector<double>& target,
          std::vector<std::size_t>& chosen) {
  double part = 1;
  std::size_t first = x.size();
  for (std::size_t i : chosen) {
    if (target[i] > 0) continue;
    const double step = x[i] > 0 ? x[i] / (x[i] - target[i]) : 0;
    if (step <= part) part = step, first = i;
  }
  for (std::size_t i : chosen) x[i] = std::max(0.0, x[i] + part * (target[i] - x[i]));
  if (first == x.size()) return true;
  x[first] = 0;
  std::erase(chosen, first);
  return false;
}

}  // namespace

BoxDiscrepancy box_discrepancy(const std::vector<double>& frequencies, std::size_t m, std::size_t d,
                               double b, bool even) {
  BoxDiscrepancy box{std::vector<double>(m * m, 1), std::vector<double>(m, 1)};
  for (std::size_t i = 0; i < m; ++i) {
    const double* w = frequencies.data() + i * d;
    for (std::size_t e = 0; e < d; ++e) box.v[i] *= mean_over_box(w[e], b);
    for (std::size_t j = 0; j < m; ++j) {
      const double* u = frequencies.data() + j * d;
      double mirrored = 1;
      for (std::size_t e = 0; e < d; ++e) {
        box.H[i * m + j] *= sinc(b * (w[e] - u[e]));
        mirrored *= sinc(b * (w[e] + u[e]));
      }
      if (even) box.H[i * m + j] = (box.H[i * m + j] + mirrored) / 2;
    }
  }
  return box;
}

std::vector<double> nonnegative_quadratic(const std::vector<double>& H,
                                          const std::vector<double>& v) {
  const std::size_t m = v.size();
  std::vector<double> x(m);
  std::vector<std::size_t> chosen;
  for (std::size_t round = 0; round < 10 * m; ++round) {
    const std::size_t next = steepest_index(H, v, x, chosen);
    if (next == m) break;
    chosen.push_back(next);
    while (!chosen.empty() && !move(x, solve_on(chosen, H, v), chosen)) {
    }
  }
  return x;
}

std::vector<double> box_weights(const std::vector<double>& frequencies, std::size_t m,
                                std::size_t d, double b, bool even) {
  BoxDiscrepancy box = box_discrepancy(frequencies, m, d, b, even);
  for (std::size_t i = 0; i < m; ++i) box.H[i * m + i] *= 1 + 1e-9;  // regular for equal rows
  std::vector<double> weights = nonnegative_quadratic(box.H, box.v);
  const bool none = std::all_of(weights.begin(), weights.end(), [](double x) { return x == 0; });
  if (none) std::fill(weights.begin(), weights.end(), 1 / double(m));  // all waves too short
  return weights;
}

}  // namespace bochner::inline BOCHNER_PRECISION
