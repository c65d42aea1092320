#pragma once
/// Discrete Fourier transforms of real rows of any length. They mix elements by rounding: an output
/// depends in its last bits on all elements of its row, and on no other row.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The first n/2 + 1 bins of X_k = sum_t x_t e^(-2 pi i k t / n), which the others mirror: real
/// parts, then imaginary parts. (.., n) -> (.., 2, n/2 + 1), n >= 1
Var fft(const Var& x);
/// The rows of n elements with these bins: ifft(fft(x), n) = x. The imaginary parts of bin 0 and of
/// bin n/2 of an even n are taken for 0. (.., 2, n/2 + 1) -> (.., n)
Var ifft(const Var& x, std::size_t n);

}  // namespace bochner::inline BOCHNER_PRECISION
