#pragma once
/// Discrete Fourier transforms of real rows of any length. By rounding, an output depends on all
/// elements of its row, and on no other row.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Computes the n/2 + 1 bins of the half spectrum X_k = sum_t x_t e^(-2 pi i k t / n), real parts,
/// then imaginary parts. (.., n) -> (.., 2, n/2 + 1), n >= 1
Var fft(const Var& x);
/// Computes the inverse, ifft(fft(x), n) = x. Ignores the imaginary parts of bin 0 and of bin n/2
/// of an even n. (.., 2, n/2 + 1) -> (.., n)
Var ifft(const Var& x, std::size_t n);

}  // namespace bochner::inline BOCHNER_PRECISION
