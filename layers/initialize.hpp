#pragma once
/// Initial values as functions of the seed and of each parameter's name.

#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Draws every parameter that asks for it (see Initial): the same seed and name give the same
/// numbers, whatever else the model holds.
void initialize(Module& module, std::uint64_t seed);

}  // namespace bochner::inline BOCHNER_PRECISION
