#pragma once
/// Conjugate gradients for many right-hand sides at once, in double and in a fixed order.

#include <cstddef>
#include <functional>
#include <vector>

namespace bochner {

/// A block of vectors, (n, columns) row-major, to another one.
using BlockOperator = std::function<std::vector<double>(const std::vector<double>& block)>;

struct LinearSystem {
  BlockOperator apply;              ///< A, symmetric and positive definite
  BlockOperator precondition = {};  ///< about A^-1, likewise; none for 1
  std::size_t columns = 1;
  /// A column ends where its residual's square, weighed by the preconditioner, is below this part
  /// of the first.
  double tolerance = 1e-20;
  std::size_t most_steps = 1000;
  bool strict = false;  ///< to throw where A is not positive definite or columns do not converge
};

struct LinearSolution {
  std::vector<double> x;
  /// Of each step, for each column that went on: its length and the turn of the next direction, the
  /// coefficients of a Lanczos process.
  std::vector<std::vector<double>> lengths, turns;
};

/// x with A x = b from x0, of which the residual b - A x0 is given; every column has its own steps.
/// Exact in n steps but for rounding. Throws std::domain_error, see LinearSystem. Hestenes,
/// Stiefel, 1952.
LinearSolution conjugate_gradients(const LinearSystem& system, std::vector<double> x0,
                                   std::vector<double> residual);

}  // namespace bochner
