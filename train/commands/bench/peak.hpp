#pragma once
#include <bochner/autodiff/real.hpp>
#include <cstddef>

namespace bochner::inline BOCHNER_PRECISION {

/// The most floating-point operations a second that `threads` threads reach together in fused
/// multiply-adds of registers (2 each): what products are measured against. Takes 0.2 s.
double measure_peak(std::size_t threads);

}  // namespace bochner::inline BOCHNER_PRECISION
