#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace bochner {

/// Returns the largest eigenvalue of a symmetric matrix by Lanczos iterations from a vector that is
/// not 0, each of which calls `apply` once: at most the true one, and equal to it if the start has
/// a part along its eigenvector and the iterations suffice. `apply` multiplies by the matrix.
/// Lanczos, "An iteration method for the solution of the eigenvalue problem", 1950.
double largest_eigenvalue(
    const std::function<std::vector<double>(const std::vector<double>&)>& apply,
    std::vector<double> start, std::size_t iterations);

}  // namespace bochner
