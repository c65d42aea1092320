#pragma once
/// exp, log, sin, cos, tanh, erf and relatives as inline functions that compilers vectorise.

#include <bochner/autodiff/real.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace math {
inline real exp(real x) { return std::exp(x); }
inline real log(real x) { return std::log(x); }
inline real sin(real x) { return std::sin(x); }
inline real cos(real x) { return std::cos(x); }
inline real tanh(real x) { return std::tanh(x); }
inline real erf(real x) { return std::erf(x); }
inline real sigmoid(real x) { return 1 / (1 + exp(-x)); }
inline real softplus(real x) { return (x > 0 ? x : 0) + std::log1p(exp(x > 0 ? -x : x)); }
}  // namespace math
}  // namespace bochner::inline BOCHNER_PRECISION
