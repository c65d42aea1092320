#pragma once
/// The parts of a data set.

#include <bochner/autodiff/real.hpp>

namespace bochner::inline BOCHNER_PRECISION {

enum class Split { train, validation, test };

/// "training", "validation" or "test".
constexpr const char* name_of(Split split) {
  return split == Split::train ? "training" : split == Split::validation ? "validation" : "test";
}

}  // namespace bochner::inline BOCHNER_PRECISION
