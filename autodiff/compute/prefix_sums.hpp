#pragma once
/// Convolutions with piecewise constant kernels by differences of prefix sums.

#include <bochner/autodiff/compute/channel_lanes.hpp>
#include <cstdint>

namespace bochner::inline BOCHNER_PRECISION {

/// Piece s of a kernel has the lags edges_s <= l < edges_(s+1).
using LagEdges = std::vector<std::int64_t>;

/// Computes y_t = sum_s k_s (sum of x_(t-l) over the piece) + beta y_t. k (S, D)
void convolve_pieces(const ChannelSequences& sequences, const LagEdges& edges, const real* x,
                     const real* k, real beta, real* y);
/// Computes dk_s += sum_t g_t (sum of x_(t-l) over the piece), sequences in a fixed order.
void accumulate_pieces(const ChannelSequences& sequences, const LagEdges& edges, const real* x,
                       const real* g, real* dk);

/// Streaming version for one sequence, edges from 0 on: O(S) per token, memory for the last lag.
class PrefixStream {
 public:
  /// k (S, D), S >= 1
  PrefixStream(LagEdges edges, std::size_t D, const real* k);
  std::size_t width() const { return D_; }
  /// Consumes a token (D) and writes its output (D).
  void next(const real* x, real* y);

 private:
  LagEdges edges_;
  std::size_t D_, seen_ = 0, size_ = 0;
  std::vector<double> steps_;  ///< kernel jumps at the edges (S + 1, D)
  std::vector<double> sums_;   ///< prefix sums of the last tokens (size, D)
};

}  // namespace bochner::inline BOCHNER_PRECISION
