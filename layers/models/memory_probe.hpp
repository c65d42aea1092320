#pragma once
/// The memory of a sequence layer: how strongly y(t) depends on u(t - n). By products of cotangents
/// with the Jacobian, r^T dy(t)/du: one pass backward gives them for all n, and with random signs r
/// E |J^T r|^2 = |J|_F^2 (Hutchinson, "A stochastic estimator of the trace", 1990).

#include <bochner/layers/mixers/mixer.hpp>
#include <functional>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// A sequence that a map is probed on, B = 1, or copies of it.
struct ProbeWindow {
  Tensor u;  ///< (B, T, D)
  Layout layout = {};
  Tensor each = {};  ///< of a stack of blocks, see BlockStack::forward(); () for none
};

/// A layer or part of a model, each sequence by itself: y for an input u and the rest of the
/// window. (B, T, D) -> (B, T, E)
using SequenceMap = std::function<Var(Tape& tape, const Var& u, const ProbeWindow& window)>;

struct ProbeOptions {
  /// Random cotangents for each window (K), functions of the seed, the window and the position; 0:
  /// one for each channel of y, which is exact.
  std::size_t draws = 16;
  std::uint64_t seed = 1;
};

/// Numbers by lag n, which index them.
struct LagCurve {
  /// |dy(t)/du(t - n)|_F^2 / E, mean over the windows: the square of how far a channel of y moves
  /// with u, root mean square over the channels. Of a convolution of each channel by itself its
  /// squared kernel.
  std::vector<double> square = {};
  std::vector<double> error = {};         ///< standard error of `square` by the draws
  std::vector<std::size_t> windows = {};  ///< that have this lag
};

/// What one or several windows say.
struct Influence {
  LagCurve past;   ///< of u(t - n)
  LagCurve ahead;  ///< of u(t + n), n > 0; empty where nothing ahead is seen
  std::vector<std::size_t> half_lives = {};  ///< of each window, in tokens

  /// Root of `square`, tokens on both sides added up.
  std::vector<double> by_distance() const;
};

/// At the last token of each window, or at the middle one if the map sees what is ahead. The
/// windows may differ in T. Throws std::invalid_argument without windows or where one is no (1, T,
/// D).
Influence probe(const SequenceMap& map, const std::vector<ProbeWindow>& windows,
                const ProbeOptions& options = {});
Influence probe(Mixer& mixer, const std::vector<ProbeWindow>& windows,
                const ProbeOptions& options = {});

/// The other way round: how far y moves n tokens after an impulse of a random sign in each channel
/// of the first token (the middle one if the map sees what is ahead), per unit of it and root mean
/// square over channels, directions and windows. By central differences. Equals the probe where the
/// map is linear and shifts with its input.
std::vector<double> impulse_response(const SequenceMap& map,
                                     const std::vector<ProbeWindow>& windows,
                                     const ProbeOptions& options = {});

/// Smallest n up to which the values sum to half of their sum.
std::size_t half_life(const std::vector<double>& influence);
/// Share of the sum that lies beyond lag n.
double share_beyond(const std::vector<double>& influence, std::size_t n);

}  // namespace bochner::inline BOCHNER_PRECISION
