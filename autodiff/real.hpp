#pragma once
/// The precision: float for training, double for proof. Sources are built twice; the inline
/// namespace turns a mix-up into a link error.

#ifdef BOCHNER_DOUBLE
#define BOCHNER_PRECISION f64
#else
#define BOCHNER_PRECISION f32
#endif

namespace bochner::inline BOCHNER_PRECISION {

#ifdef BOCHNER_DOUBLE
using real = double;
inline constexpr const char* precision_name = "double";
#else
using real = float;
inline constexpr const char* precision_name = "float";
#endif

}  // namespace bochner::inline BOCHNER_PRECISION
