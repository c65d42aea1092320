#pragma once
/// Linear recurrences with a diagonal: every state is its own decay times what it was, plus an
/// input. Sequential in time, vectorised over channels.

#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct ScanOptions {
  bool reverse = false;  ///< from the last token of a sequence to the first
  /// Tokens of each sequence, (B), or empty for T: what lies beyond is as if it were not there, has
  /// zeros as output and no gradient.
  std::vector<std::size_t> lengths = {};

  std::size_t length(std::size_t b, std::size_t T) const { return length_of(lengths, b, T); }
  /// Throws unless the lengths fit B sequences of T tokens.
  void check(const char* op, std::size_t B, std::size_t T) const;
};

/// h_t = a_t h_(t-1) + x_t in each channel, or h_t = a_t h_(t+1) + x_t in reverse, from h = `start`
/// (B, n) before the first token, zero where it is left out. Decays a (n), or (B, T, n) of their
/// own for each token; x (B, T, n) -> (B, T, n).
Var diagonal_scan(const Var& a, const Var& x, const Var& start = {},
                  const ScanOptions& options = {});

/// The same of complex numbers: the last axis of all arrays has the n real parts, then the n
/// imaginary ones. a (2n) or (B, T, 2n), x (B, T, 2n), start (B, 2n) -> (B, T, 2n).
Var complex_scan(const Var& a, const Var& x, const Var& start = {},
                 const ScanOptions& options = {});

/// N states of every channel and their weighted sum: y_t = Re sum_n w_n h_(t,n) with h_(t,n) = a_n
/// h_(t-1,n) + u_t, in reverse too. No state is kept for the backward pass. Decays a and weights w
/// (N, D) real, or (2, N, D) real parts and imaginary parts; u (B, T, D) -> (B, T, D). Gu et al.,
/// "S4D", 2022.
Var state_space(const Var& u, const Var& a, const Var& w, const ScanOptions& options = {});

/// One token of one sequence: moves the states (.., N, D) of state_space() on, and gives its output
/// at the next position, to the bit. Decays and weights of the shape of the states, u (D) -> (D).
Tensor state_space_step(Tensor& states, const Tensor& u, const Tensor& a, const Tensor& w);

/// (e^z - 1) / z, what a continuous system adds of an input that is held for a step; with its
/// gradient to rounding, near z = 0 too. Complex numbers, real parts before imaginary ones along
/// the last axis: (.., 2n) -> (.., 2n).
Var zero_order_hold(const Var& z);

}  // namespace bochner::inline BOCHNER_PRECISION
