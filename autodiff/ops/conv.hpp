#pragma once
/// Convolutions and pooling with short windows over one or two axes; channels are the last axis. An
/// axis of n elements has floor((n + 2 padding - size) / stride) + 1 windows.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct ConvOptions {
  std::size_t stride = 1;
  std::size_t padding = 0;  ///< zeros on both sides
  /// Number of channel groups; each maps to an equal share of the outputs. As many groups as
  /// channels make a depthwise convolution.
  std::size_t groups = 1;
};
/// Computes the cross-correlation y_t = sum over k of x_(stride t + k - padding) w_k. (B, T, C),
/// (K, C / groups, E) -> (B, T', E)
Var conv1d(const Var& x, const Var& w, const ConvOptions& options = {});
/// Cross-correlates rows and columns. (B, R, S, C), (K, L, C / groups, E) -> (B, R', S', E)
Var conv2d(const Var& x, const Var& w, const ConvOptions& options = {});

struct PoolOptions {
  std::size_t size = 2;
  std::size_t stride = 0;   ///< 0: `size`, windows side by side
  std::size_t padding = 0;  ///< below `size`; ignored, not zeros
};
/// Returns the maximum of each window and channel; the first of equal ones receives the gradient,
/// NaN counts as largest. (B, T, C) -> (B, T', C), (B, R, S, C) -> (B, R', S', C)
Var max_pool(const Var& x, const PoolOptions& options = {});
/// Returns the mean of what each window sees, padding excluded. Shapes as in max_pool().
Var mean_pool(const Var& x, const PoolOptions& options = {});

}  // namespace bochner::inline BOCHNER_PRECISION
