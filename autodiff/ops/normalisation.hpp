#pragma once
/// Fused normalisations over the last axis.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// y = (x - mean) / sqrt(variance + epsilon) * gain + bias. (.., D), (D), (D) -> (.., D)
Var layer_norm(const Var& x, const Var& gain, const Var& bias, real epsilon = real(1e-5));
/// y = x / sqrt(mean x^2 + epsilon) * gain. (.., D), (D) -> (.., D)
Var rms_norm(const Var& x, const Var& gain, real epsilon = real(1e-6));
/// y = e^x / sum e^x over the last axis. (.., D) -> (.., D)
Var softmax(const Var& x);
/// y = x - ln sum e^x over the last axis. (.., D) -> (.., D)
Var log_softmax(const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
