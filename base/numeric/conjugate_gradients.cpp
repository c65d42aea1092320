#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/conjugate_gradients.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>
#include <string>

namespace bochner {
namespace {

using Numbers = std::vector<double>;

/// Returns the inner product of each column of a and b, (n, columns) -> (columns).
Numbers column_products(const Numbers& a, const Numbers& b, std::size_t columns) {
  Numbers sums(columns);
  for (std::size_t i = 0; i < a.size(); ++i) sums[i % columns] += a[i] * b[i];
  return sums;
}

/// Adds factors[column] * by to `to`. (n, columns)
void add_columns(Numbers& to, const Numbers& factors, const Numbers& by) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factors[i % factors.size()] * by[i];
}

/// Returns a / b by column; 0 for converged columns.
Numbers ratios(const Numbers& a, const Numbers& b, const std::vector<bool>& converged) {
  Numbers result(a.size());
  for (std::size_t j = 0; j < a.size(); ++j)
    result[j] = converged[j] || b[j] <= 0 ? 0 : a[j] / b[j];
  return result;
}

void require_definite(const Numbers& curvature, const std::vector<bool>& converged) {
  for (std::size_t j = 0; j < curvature.size(); ++j)
    if (!converged[j] && !(curvature[j] > 0))
      throw std::domain_error("conjugate gradients: the matrix is not positive definite");
}

void require_converged(const Numbers& squares, const Numbers& start, const LinearSystem& system) {
  for (std::size_t j = 0; j < squares.size(); ++j)
    if (!(squares[j] <= system.tolerance * start[j]))
      throw std::domain_error("conjugate gradients: not converged in " +
                              std::to_string(system.max_steps) + " steps");
}

}  // namespace

LinearSolution conjugate_gradients(const LinearSystem& system, std::vector<double> x0,
                                   std::vector<double> residual) {
  const std::size_t N = system.columns;
  const auto preconditioned = [&] {
    return system.precondition ? system.precondition(residual) : residual;
  };
  LinearSolution solution{std::move(x0), std::vector<Numbers>(N), std::vector<Numbers>(N)};
  Numbers z = preconditioned(), direction = z;
  Numbers before = column_products(residual, z, N);
  const Numbers start = before;
  std::vector<bool> converged(N);
  for (std::size_t step = 0; step < system.max_steps; ++step) {
    for (std::size_t j = 0; j < N; ++j)
      converged[j] = converged[j] || before[j] <= system.tolerance * start[j];
    if (std::ranges::count(converged, true) == std::ptrdiff_t(N)) break;
    const Numbers moved = system.apply(direction);
    const Numbers curvature = column_products(direction, moved, N);
    if (system.strict) require_definite(curvature, converged);
    Numbers alpha = ratios(before, curvature, converged);
    add_columns(solution.x, alpha, direction);
    for (double& each : alpha) each = -each;
    add_columns(residual, alpha, moved);
    z = preconditioned();
    const Numbers after = column_products(residual, z, N);
    const Numbers beta = ratios(after, before, converged);
    for (std::size_t i = 0; i < direction.size(); ++i)
      direction[i] = z[i] + beta[i % N] * direction[i];
    for (std::size_t j = 0; j < N; ++j)
      if (!converged[j] && alpha[j] != 0) {
        solution.alphas[j].push_back(-alpha[j]);
        solution.betas[j].push_back(beta[j]);
      }
    before = after;
  }
  if (system.strict) require_converged(before, start, system);
  return solution;
}

std::vector<double> pivoted_cholesky(
    std::size_t n, std::vector<double> diagonal, std::size_t most, double tolerance,
    const std::function<void(std::size_t row, double* numbers)>& row) {
  most = std::min(most, n);
  std::vector<double> columns, numbers(n);  // (rank, n)
  const double largest = n == 0 ? 0 : *std::ranges::max_element(diagonal);
  for (std::size_t k = 0; k < most; ++k) {
    const auto pivot = std::size_t(std::ranges::max_element(diagonal) - diagonal.begin());
    if (!(diagonal[pivot] > tolerance * largest)) break;
    row(pivot, numbers.data());
    const double root = std::sqrt(diagonal[pivot]);
    columns.resize((k + 1) * n);
    double* column = columns.data() + k * n;
    parallel_for(n, row_grain(n, k + 1), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        double rest = numbers[i];
        for (std::size_t j = 0; j < k; ++j) rest -= columns[j * n + i] * columns[j * n + pivot];
        column[i] = rest / root;
        diagonal[i] -= column[i] * column[i];
      }
    });
    diagonal[pivot] = 0;
  }
  const std::size_t rank = n == 0 ? 0 : columns.size() / n;
  std::vector<double> factor(n * rank);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < rank; ++j) factor[i * rank + j] = columns[j * n + i];
  return factor;
}

LowRankPlusNoise::LowRankPlusNoise(std::size_t n, std::vector<double> factor, double noise)
    : n_(n),
      rank_(n == 0 ? 0 : factor.size() / n),
      factor_(std::move(factor)),
      noise_(noise),
      inner_(rank_ * rank_) {
  accumulate_gram(n_, rank_, factor_.data(), inner_.data());
  for (std::size_t j = 0; j < rank_; ++j) inner_[j * rank_ + j] += noise_;
  cholesky(rank_, inner_.data());
}

std::vector<double> LowRankPlusNoise::solve(const std::vector<double>& b,
                                            std::size_t columns) const {
  std::vector<double> seen(rank_ * columns), back(n_ * columns);
  if (rank_ > 0) {
    multiply(rank_, columns, n_, factor_.data(), true, b.data(), 0, seen.data());
    solve_lower(rank_, inner_.data(), columns, seen.data());
    solve_lower_transposed(rank_, inner_.data(), columns, seen.data());
    multiply(n_, columns, rank_, factor_.data(), false, seen.data(), 0, back.data());
  }
  for (std::size_t i = 0; i < back.size(); ++i) back[i] = (b[i] - back[i]) / noise_;
  return back;
}

double LowRankPlusNoise::log_determinant() const {
  return (double(n_) - double(rank_)) * std::log(noise_) +
         log_determinant_of_factor(rank_, inner_.data());
}

std::vector<double> LowRankPlusNoise::colour(const std::vector<double>& x, std::vector<double> y,
                                             std::size_t columns) const {
  const double deviation = std::sqrt(noise_);
  for (double& number : y) number *= deviation;
  if (rank_ > 0) multiply(n_, columns, rank_, factor_.data(), false, x.data(), 1, y.data());
  return y;
}

}  // namespace bochner
