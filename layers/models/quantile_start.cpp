#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/layers/models/quantile_start.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t most_inputs = 336, fewest_windows = 6;

/// Rows of numbers, (rows, width).
struct Rows {
  std::size_t width;
  std::vector<double> values;
  std::size_t size() const { return values.size() / width; }
  const double* row(std::size_t i) const { return values.data() + i * width; }
};

/// Returns the last numbers of each window, and a 1 for the intercept.
Rows inputs_of(const Tensor& past) {
  const std::size_t n = past.shape()[0], L = past.shape()[1], used = std::min(L, most_inputs);
  Rows rows{used + 1, {}};
  for (std::size_t i = 0; i < n; ++i) {
    const real* end = past.data() + (i + 1) * L;
    rows.values.insert(rows.values.end(), end - used, end);
    rows.values.push_back(1);
  }
  return rows;
}

/// Returns the residuals of the rows from `fitted` on. (n, L), (n, H) -> (n - fitted, H)
std::vector<double> held_out_residuals(const Rows& x, const Rows& y, std::size_t fitted,
                                       double penalty) {
  const std::size_t L = x.width, H = y.width, held_out = x.size() - fitted;
  std::vector<double> gram(L * L), weights(L * H);
  accumulate_gram(fitted, L, x.values.data(), gram.data());
  double trace = 0;
  for (std::size_t j = 0; j < L; ++j) trace += gram[j * L + j];
  for (std::size_t j = 0; j < L; ++j) gram[j * L + j] += penalty * trace / double(L);
  multiply(L, H, fitted, x.values.data(), true, y.values.data(), 0, weights.data());
  cholesky(L, gram.data());
  solve_lower(L, gram.data(), H, weights.data());
  solve_lower_transposed(L, gram.data(), H, weights.data());
  std::vector<double> rest(held_out * H);
  multiply(held_out, H, L, x.row(fitted), false, weights.data(), 0, rest.data());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = y.row(fitted)[i] - rest[i];
  return rest;
}

std::vector<std::vector<double>> columns_of(const std::vector<double>& rows, std::size_t H) {
  std::vector<std::vector<double>> columns(H);
  for (std::size_t i = 0; i < rows.size(); ++i) columns[i % H].push_back(rows[i]);
  return columns;
}

/// Returns x with softplus(x) = gap.
double inverse_softplus(double gap) {
  return gap > 30 ? gap : std::log(std::expm1(std::max(gap, 1e-6)));
}

}  // namespace

std::vector<std::vector<double>> ridge_residuals(const Tensor& past, const Tensor& future) {
  const std::size_t n = past.shape()[0], H = future.shape()[1], fitted = n - n / 3;
  const Rows y{H, {future.begin(), future.end()}};
  if (n < fewest_windows) return columns_of(y.values, H);
  const Rows x = inputs_of(past);
  std::vector<double> best;
  double least = std::numeric_limits<double>::infinity();
  for (const double penalty : {1e-4, 1e-2, 1.0, 100.0}) {
    std::vector<double> rest = held_out_residuals(x, y, fitted, penalty);
    double squares = 0;
    for (const double r : rest) squares += r * r;
    if (squares < least) least = squares, best = std::move(rest);
  }
  return columns_of(best, H);
}

Tensor spreads_of(const std::vector<std::vector<double>>& residuals,
                  const std::vector<double>& levels, std::size_t middle) {
  const std::size_t H = residuals.size(), Q = levels.size();
  Tensor outputs = zeros({H, Q});
  for (std::size_t h = 0; h < H; ++h) {
    const auto at = [&](std::size_t q) { return quantile_of(residuals[h], levels[q]); };
    for (std::size_t q = 0; q < Q; ++q) {
      if (q == middle) continue;
      const std::size_t low = q < middle ? q : q - 1;
      outputs(h, q) = real(inverse_softplus(at(low + 1) - at(low)));
    }
  }
  return outputs;
}

}  // namespace bochner::inline BOCHNER_PRECISION
