#include <algorithm>
#include <bochner/base/numeric/conjugate_gradients.hpp>
#include <stdexcept>
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

}  // namespace bochner
