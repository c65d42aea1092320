#pragma once
/// Fused normalisations over the last axis, and over the tokens of a batch.

#include <bochner/autodiff/tape.hpp>
#include <functional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// y = (x - mean) / sqrt(variance + epsilon) * gain + bias. (.., D), (D), (D) -> (.., D)
Var layer_norm(const Var& x, const Var& gain, const Var& bias, real epsilon = real(1e-5));
/// y = x / sqrt(mean x^2 + epsilon) * gain. (.., D), (D) -> (.., D)
Var rms_norm(const Var& x, const Var& gain, real epsilon = real(1e-6));

/// What turns rows (D) into those of layer_norm(), or of rms_norm() where there is no bias.
struct RowNorm {
  Var gain, bias;
  real epsilon;
  bool is_centred() const { return bias.exists(); }
  /// layer_norm() or rms_norm() of x. (.., D) -> (.., D)
  Var apply(const Var& x) const;
  /// Throws std::invalid_argument unless gain and bias are (D) for x (.., D).
  void require_width(const char* op, const Var& x) const;
};

/// Mean and variance (with 1/n) of every channel over n tokens. (D), (D)
struct BatchMoments {
  std::size_t tokens;
  std::vector<double> mean, variance;
};
/// y = (x - mean) / sqrt(variance + epsilon) * gain + bias with the moments of each channel over
/// all tokens of the batch. `lengths` (B) of x (B, T, D): what lies behind is padding, which enters
/// no moments and has outputs 0. `learned` is told the moments in the backward pass: once for every
/// batch that is learned from, even where a checkpoint computes it twice. (.., D), (D), (D) -> (..,
/// D). Ioffe and Szegedy, "Batch normalization", 2015; there padding counts.
Var batch_norm(const Var& x, const Var& gain, const Var& bias,
               const std::vector<std::size_t>& lengths = {},
               const std::function<void(const BatchMoments&)>& learned = {},
               real epsilon = real(1e-5));

/// y = e^x / sum e^x over the last axis. (.., D) -> (.., D)
Var softmax(const Var& x);
/// y = x - ln sum e^x over the last axis. (.., D) -> (.., D)
Var log_softmax(const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
