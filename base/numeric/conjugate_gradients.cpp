#include <algorithm>
#include <bochner/base/numeric/conjugate_gradients.hpp>
#include <stdexcept>
#include <string>

namespace bochner {
namespace {

using Numbers = std::vector<double>;

/// Of each column.
Numbers column_products(const Numbers& a, const Numbers& b, std::size_t columns) {
  Numbers sums(columns);
  for (std::size_t i = 0; i < a.size(); ++i) sums[i % columns] += a[i] * b[i];
  return sums;
}

/// to += factor of the column * by
void add_columns(Numbers& to, const Numbers& factors, const Numbers& by) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factors[i % factors.size()] * by[i];
}

/// Entry by entry; 0 for columns that are at their end.
Numbers ratios(const Numbers& a, const Numbers& b, const std::vector<bool>& ended) {
  Numbers result(a.size());
  for (std::size_t j = 0; j < a.size(); ++j) result[j] = ended[j] || b[j] <= 0 ? 0 : a[j] / b[j];
  return result;
}

void require_definite(const Numbers& curvature, const std::vector<bool>& ended) {
  for (std::size_t j = 0; j < curvature.size(); ++j)
    if (!ended[j] && !(curvature[j] > 0))
      throw std::domain_error("conjugate gradients: the matrix is not positive definite");
}

void require_converged(const Numbers& squares, const Numbers& start, const LinearSystem& system) {
  for (std::size_t j = 0; j < squares.size(); ++j)
    if (!(squares[j] <= system.tolerance * start[j]))
      throw std::domain_error("conjugate gradients: not converged in " +
                              std::to_string(system.most_steps) + " steps");
}

}  // namespace

LinearSolution conjugate_gradients(const LinearSystem& system, std::vector<double> x0,
                                   std::vector<double> residual) {
  const std::size_t N = system.columns;
  const auto preconditioned = [&] {
    return system.precondition ? system.precondition(residual) : residual;
  };
  LinearSolution solution{std::move(x0), std::vector<Numbers>(N), std::vector<Numbers>(N)};
  Numbers near = preconditioned(), direction = near;
  Numbers before = column_products(residual, near, N);
  const Numbers start = before;
  std::vector<bool> ended(N);
  for (std::size_t step = 0; step < system.most_steps; ++step) {
    for (std::size_t j = 0; j < N; ++j)
      ended[j] = ended[j] || before[j] <= system.tolerance * start[j];
    if (std::ranges::count(ended, true) == std::ptrdiff_t(N)) break;
    const Numbers moved = system.apply(direction);
    const Numbers curvature = column_products(direction, moved, N);
    if (system.strict) require_definite(curvature, ended);
    Numbers length = ratios(before, curvature, ended);
    add_columns(solution.x, length, direction);
    for (double& each : length) each = -each;
    add_columns(residual, length, moved);
    near = preconditioned();
    const Numbers after = column_products(residual, near, N);
    const Numbers turn = ratios(after, before, ended);
    for (std::size_t i = 0; i < direction.size(); ++i)
      direction[i] = near[i] + turn[i % N] * direction[i];
    for (std::size_t j = 0; j < N; ++j)
      if (!ended[j] && length[j] != 0) {
        solution.lengths[j].push_back(-length[j]);
        solution.turns[j].push_back(turn[j]);
      }
    before = after;
  }
  if (system.strict) require_converged(before, start, system);
  return solution;
}

}  // namespace bochner
