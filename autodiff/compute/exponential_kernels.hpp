#pragma once
/// Sums of damped waves at the whole numbers: the kernel of a diagonal state space.

#include <bochner/autodiff/real.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

/// Waves number n of channel c: e^(-rate l) (cosine cos(frequency l) + sine sin(frequency l)). Each
/// (C, N).
struct ExponentialKernels {
  std::size_t C, N;
  const real *rate, *frequency, *cosine, *sine;
};

/// y_l = sum over the waves of each channel at l = 0 .. count - 1, or the other way round. (count,
/// C)
void sum_exponential_kernels(const ExponentialKernels& waves, std::size_t count, bool descending,
                             real* y);

/// What gradients of the waves are made of, g being that of y, (C, N) each: real and imaginary part
/// of sum_l g_l z^l and of sum_l l g_l z^l, z = e^(-rate + i frequency).
struct WaveMoments {
  real *re, *im, *lag_re, *lag_im;
};
void wave_moments(const ExponentialKernels& waves, std::size_t count, bool descending,
                  const real* g, const WaveMoments& to);

}  // namespace bochner::inline BOCHNER_PRECISION
