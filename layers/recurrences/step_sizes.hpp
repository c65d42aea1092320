#pragma once
#include <bochner/autodiff/tensor.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns where i of n places lies between the first, 0, and the last, 1; 1/2 for a single one.
inline double share_of_place(std::size_t i, std::size_t n) {
  return n > 1 ? double(i) / double(n - 1) : 0.5;
}

/// Returns biases (n) whose softplus is a geometric sequence of steps from 0.001 to 0.1.
inline Tensor geometric_step_biases(std::size_t n) {
  Tensor biases = uninitialized({n});
  for (std::size_t i = 0; i < n; ++i)
    biases.data()[i] = real(std::log(std::expm1(0.001 * std::pow(100, share_of_place(i, n)))));
  return biases;
}

}  // namespace bochner::inline BOCHNER_PRECISION
