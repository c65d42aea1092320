#pragma once
/// Sums of exponentially damped waves at the integers: the kernel of a diagonal state space.

#include <bochner/autodiff/real.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

/// N waves per channel: e^(-rate l) (cosine cos(frequency l) + sine sin(frequency l)). Each (C, N).
struct ExponentialKernels {
  std::size_t C, N;
  const real *rate, *frequency, *cosine, *sine;
};

/// Computes y_l = sum of the waves at l = 0 .. count - 1, reversed if `descending`. (count, C)
void sum_exponential_kernels(const ExponentialKernels& waves, std::size_t count, bool descending,
                             real* y);

/// Moments for the gradients of the waves, g the gradient of y: real and imaginary parts of sum_l
/// g_l z^l and of sum_l l g_l z^l, z = e^(-rate + i frequency). Each (C, N).
struct WaveMoments {
  real *re, *im, *lag_re, *lag_im;
};
void wave_moments(const ExponentialKernels& waves, std::size_t count, bool descending,
                  const real* g, const WaveMoments& to);

}  // namespace bochner::inline BOCHNER_PRECISION
