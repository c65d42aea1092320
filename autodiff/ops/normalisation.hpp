#pragma once
/// Fused normalisations over the last axis, and over the tokens of a batch.

#include <bochner/autodiff/tape.hpp>
#include <functional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns (x - mean) / sqrt(variance + epsilon) * gain + bias. (.., D), (D), (D) -> (.., D)
Var layer_norm(const Var& x, const Var& gain, const Var& bias, real epsilon = real(1e-5));
/// Returns x / sqrt(mean x^2 + epsilon) * gain. (.., D), (D) -> (.., D)
Var rms_norm(const Var& x, const Var& gain, real epsilon = real(1e-6));

/// Parameters of layer_norm(), or of rms_norm() if there is no bias.
struct RowNorm {
  Var gain, bias;
  real epsilon;
  bool is_centred() const { return bias.exists(); }
  /// Returns layer_norm() or rms_norm() of x. (.., D) -> (.., D)
  Var apply(const Var& x) const;
  /// Throws std::invalid_argument unless gain and bias are (D) for x (.., D).
  void require_width(const char* op, const Var& x) const;
};

/// Mean and variance (with 1/n) of each channel over n tokens. (D), (D)
struct BatchMoments {
  std::size_t tokens;
  std::vector<double> mean, variance;
};
/// Returns (x - mean) / sqrt(variance + epsilon) * gain + bias with the moments of each channel
/// over all tokens of the batch. Tokens beyond `lengths` (B) of x (B, T, D) are padding, excluded
/// from the moments and 0 in the output. Calls `learned` with the moments in the backward pass:
/// once per trained batch, even if a checkpoint recomputes it. (.., D), (D), (D) -> (.., D). Ioffe
/// and Szegedy, "Batch normalization", 2015, which includes padding.
Var batch_norm(const Var& x, const Var& gain, const Var& bias,
               const std::vector<std::size_t>& lengths = {},
               const std::function<void(const BatchMoments&)>& learned = {},
               real epsilon = real(1e-5));

/// Returns e^x / sum e^x over the last axis. (.., D) -> (.., D)
Var softmax(const Var& x);
/// Returns x - ln sum e^x over the last axis. (.., D) -> (.., D)
Var log_softmax(const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
