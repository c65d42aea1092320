#pragma once
/// Memory of a sequence layer: how strongly y(t) depends on u(t - n), by products r^T dy(t)/du of
/// cotangents with the Jacobian. One backward pass gives all n; random signs r have E |J^T r|^2 =
/// |J|_F^2 (Hutchinson, "A stochastic estimator of the trace", 1990).

#include <bochner/layers/mixers/mixer.hpp>
#include <functional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Sequence to probe a map on, B = 1, or copies of it.
struct ProbeWindow {
  Tensor u;  ///< (B, T, D)
  Layout layout = {};
  Tensor each = {};  ///< for block stacks, see BlockStack::forward(); () for none
};

/// Layer that treats sequences separately: y for u and the window. (B, T, D) -> (B, T, E)
using SequenceMap = std::function<Var(Tape& tape, const Var& u, const ProbeWindow& window)>;

struct ProbeOptions {
  /// Random cotangents per window (K), by seed, window and position; 0: all channels of y.
  std::size_t draws = 16;
  std::uint64_t seed = 1;
};

/// Curves indexed by lag n.
struct LagCurve {
  /// |dy(t)/du(t - n)|_F^2 / E, mean over windows: the squared change of a channel of y with u, in
  /// root mean square over channels; the squared kernel of a channel-wise convolution.
  std::vector<double> square = {};
  std::vector<double> error = {};         ///< standard error of `square` by the draws
  std::vector<std::size_t> windows = {};  ///< number of windows with this lag
};

/// Result of a probe.
struct Influence {
  LagCurve past;   ///< influence of u(t - n)
  LagCurve ahead;  ///< influence of u(t + n), n > 0; empty for causal maps
  std::vector<std::size_t> half_lives = {};  ///< per window, in tokens

  /// Returns the root of `square`, summed over both sides.
  std::vector<double> by_distance() const;
};

/// Probes the last token of each window, or the middle one if the map is not causal. Windows may
/// differ in T. Throws std::invalid_argument without windows or if one is not (1, T, D).
Influence probe(const SequenceMap& map, const std::vector<ProbeWindow>& windows,
                const ProbeOptions& options = {});
Influence probe(Mixer& mixer, const std::vector<ProbeWindow>& windows,
                const ProbeOptions& options = {});

/// Returns how far y moves n tokens after an impulse of random signs at the first token (the middle
/// one if the map is not causal), per unit and in root mean square over channels, directions and
/// windows, by central differences. Equals the probe for linear shift-invariant maps.
std::vector<double> impulse_response(const SequenceMap& map,
                                     const std::vector<ProbeWindow>& windows,
                                     const ProbeOptions& options = {});

/// Returns the smallest n up to which the values sum to half of the total.
std::size_t half_life(const std::vector<double>& influence);
/// Returns the share of the total beyond lag n.
double share_beyond(const std::vector<double>& influence, std::size_t n);

}  // namespace bochner::inline BOCHNER_PRECISION
