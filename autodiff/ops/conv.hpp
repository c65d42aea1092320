#pragma once
/// Convolutions with short kernels over one or two axes, and pooling; channels are the last axis.
/// Along an axis of n elements there are (n + 2 padding - size) / stride + 1 windows, rounded down.

#include <bochner/autodiff/tape.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct ConvOptions {
  std::size_t stride = 1;
  std::size_t padding = 0;  ///< zeros on both sides
  /// Channels are cut into so many groups, each seen by as many of the outputs: as many groups as
  /// channels for a depthwise convolution.
  std::size_t groups = 1;
};
/// y_t = sum over k of x_(stride t + k - padding) w_k (a cross-correlation, as the field has it).
/// (B, T, C), (K, C / groups, E) -> (B, T', E)
Var conv1d(const Var& x, const Var& w, const ConvOptions& options = {});
/// The same over rows and columns. (B, R, S, C), (K, L, C / groups, E) -> (B, R', S', E)
Var conv2d(const Var& x, const Var& w, const ConvOptions& options = {});

struct PoolOptions {
  std::size_t size = 2;
  std::size_t stride = 0;   ///< 0: that of windows side by side, `size`
  std::size_t padding = 0;  ///< below `size`; what lies there is not seen
};
/// The largest of each window and channel, the first among equals; NaN is the largest. (B, T, C) ->
/// (B, T', C), (B, R, S, C) -> (B, R', S', C)
Var max_pool(const Var& x, const PoolOptions& options = {});
/// The mean of what each window sees. Shapes as of max_pool().
Var mean_pool(const Var& x, const PoolOptions& options = {});

}  // namespace bochner::inline BOCHNER_PRECISION
