#pragma once
/// Linear recurrences h = decay * h + x. Sequential in time, vectorised over channels.

#include <bochner/autodiff/tape.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct ScanOptions {
  bool reverse = false;  ///< from the last token of a sequence to the first
  /// Tokens per sequence (B), or empty for T. Tokens beyond have zero output and gradient.
  std::vector<std::size_t> lengths = {};

  std::size_t length(std::size_t b, std::size_t T) const { return length_of(lengths, b, T); }
  void check(const char* op, std::size_t B, std::size_t T) const;
};

/// Computes h_t = a_t h_(t-1) + x_t per channel (h_t = a_t h_(t+1) + x_t in reverse) from h =
/// `start` (B, n) or zero. Decays a (n), or (B, T, n) per token; x (B, T, n) -> (B, T, n)
Var diagonal_scan(const Var& a, const Var& x, const Var& start = {},
                  const ScanOptions& options = {});

/// Computes diagonal_scan() of complex numbers; the last axis holds n real parts, then n imaginary
/// ones. a (2n) or (B, T, 2n), x (B, T, 2n), start (B, 2n) -> (B, T, 2n)
Var complex_scan(const Var& a, const Var& x, const Var& start = {},
                 const ScanOptions& options = {});

/// Computes y_t = Re sum_n w_n h_(t,n) of N states per channel with h_(t,n) = a_n h_(t-1,n) + u_t,
/// or in reverse. Stores no states for the backward pass. Decays a and weights w (N, D) real, or
/// (2, N, D) real and imaginary parts; u (B, T, D) -> (B, T, D). Gu et al., "S4D", 2022.
Var state_space(const Var& u, const Var& a, const Var& w, const ScanOptions& options = {});

/// Processes one token of one sequence: updates the states (.., N, D) of state_space() and returns
/// its output, bit-equal to the op. Decays and weights have the shape of the states, u (D) -> (D)
Tensor state_space_step(Tensor& states, const Tensor& u, const Tensor& a, const Tensor& w);

/// Computes the selective scan y_t = sum_n c_(t,n) h_n of N states per channel with h_n <-
/// exp(-rate_n step_t) h_n + step_t b_(t,n) x_t, where steps depend on token and channel, and b and
/// c on the token. Stores the states of every 16th token for the backward pass. x, step (B, T, D),
/// rate (N, D), b, c (B, T, N) -> (B, T, D). Gu and Dao, "Mamba", 2023.
Var selective_scan(const Var& x, const Var& step, const Var& rate, const Var& b, const Var& c,
                   const ScanOptions& options = {});

/// Processes one token of each sequence: updates the states (B, N, D) of selective_scan(), zeros
/// before the first, and returns its output, bit-equal to the op. x, step (B, D), rate (N, D), b, c
/// (B, N) -> (B, D)
Tensor selective_scan_step(Tensor& states, const Tensor& x, const Tensor& step, const Tensor& rate,
                           const Tensor& b, const Tensor& c);

/// Returns (e^z - 1) / z, the discretisation of an input held constant for a step; accurate to
/// rounding with its gradient, also near z = 0. Complex, real parts before imaginary ones along the
/// last axis: (.., 2n) -> (.., 2n)
Var zero_order_hold(const Var& z);

}  // namespace bochner::inline BOCHNER_PRECISION
