#pragma once
/// Operands of products.

#include <bochner/autodiff/real.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns normal numbers.
inline std::vector<real> noise(std::size_t count, std::uint64_t seed) {
  const RandomFunction random{seed};
  std::vector<real> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = real(random.normal(i));
  return x;
}

/// Transposes (rows, columns) to (columns, rows).
inline std::vector<real> flipped(const std::vector<real>& x, std::size_t rows,
                                 std::size_t columns) {
  std::vector<real> y(x.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
  }
  return y;
}

}  // namespace bochner::inline BOCHNER_PRECISION
