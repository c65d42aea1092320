#pragma once
#include <bochner/autodiff/real.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the build type and the compiler options for the processor of this library.
const char* build_flags();

}  // namespace bochner::inline BOCHNER_PRECISION
