#pragma once
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Features of the keys of a head (F), where each has a rate of its own; `period`: those of one
/// frequency lie so far apart and start with one rate; `constant`: the last one is a constant,
/// which starts with the slowest. None: a rate per head.
struct KeyChannels {
  std::size_t count = 0, period = 0;
  bool constant = false;
};

/// The factor of attention weights that depends on time alone, learned per head. By Bochner's
/// theorem exp(-lag / tau) is a Cauchy density on the axis of time, and its products with cos(nu
/// lag) are shifted ones.
///   decay     exp(-lag / tau)
///   rotation  exp(-lag / tau) (1 + b^2 / 2 cos(nu lag)), 0 < b < 1: a mixture of Cauchy densities
///             at 0 and at -nu and nu, never negative
///   spectral  exp(-lag / tau) (1 + sum_k 2 (b^k c_k)^2 k(k lag)), k(lag) the mean of cos(nu lag)
///             over n draws nu of a learned density, whose Fourier transform it estimates: an atom
///             at 0, that density and its N harmonics, convolved with a Cauchy one; never negative.
///             c_k is that of harmonic_coefficients(): 1 + b^2 / 2 k(lag) for N = 1
///   gate      exp(-sum of softplus(w . x + b) over the tokens passed): each token decides how much
///             of the past it keeps (gated linear attention; Yang et al., 2024)
/// decay and gate may be learned per channel: exp(-lag / tau) stands between phi_f(q) and phi_f(k)
/// then, of each feature f by itself.
class TimeKernel : public Module {
 public:
  TimeKernel(const TimeKernelSpec& spec, std::size_t heads, std::size_t width,
             const KeyChannels& channels = {});
  bool active() const { return kind_ != "none"; }
  /// A window cannot tell how much time has passed over it. Throws under the name of `op`.
  void require_window(bool regular, const char* op) const {
    require(regular || !active(), op,
            "a window with a time kernel needs tokens at equal distances");
  }
  /// What is lost from token to token: (H), or (B, T, H) where it depends on the token or tokens
  /// are at irregular distances, or either with an axis more (F) per channel; a Var that does not
  /// exist if the kind is "none". x (B, T, D)
  Var rate(Tape& tape, Normed& x, const Layout& layout = {});
  Var rate(Tape& tape, const Var& x, const Layout& layout = {}) {
    Normed rows(x);
    return rate(tape, rows, layout);
  }
  /// What multiplies the decay of each head is 1 + sum_i a_i cos(nu_i lag): all (nu_i, a_i), (H, n
  /// N, 2), n = N = 1 for "rotation"; does not exist for kinds without frequencies.
  Var rotation(Tape& tape);
  /// The features of that factor at T tokens from time `first` on (B, T, H, (2N + 1) n), or (1, T,
  /// ..) where tokens are at equal distances; a Var that does not exist without frequencies.
  Var turns(Tape& tape, const Layout& layout, std::size_t T, double first);
  void visit(Visitor& visitor) override;

 private:
  bool rotates() const { return kind_ == "rotation" || kind_ == "spectral"; }
  Var frequencies(Tape& tape);  // (H, n)
  void start_gates(const Tensor& rates, std::size_t width, std::size_t rank);
  Var gated_rate(Tape& tape, const Var& x);

  std::string kind_;
  std::size_t harmonics_ = 1;
  std::size_t heads_, channels_;
  Parameter log_rate_, log_frequency_, logit_;  // (H), or of rates (H, F)
  Parameter gate_, gate_bias_;                  // (D, H), (H), or (D or rank, H F), (H F)
  Parameter gate_down_;                         // (D, rank)
  std::unique_ptr<SpectralDensity> density_;    // of "spectral", in units of unit_
  Tensor unit_;                                 // pi / tau at the start (H, 1, 1)
};

/// Coefficients c_1 .. c_N of the polynomial 1 + sum_k 2 c_k cos(k x) >= 0 with the largest c_1 =
/// cos(pi / (N + 2)): 1/2 for N = 1. Fejer, 1915.
std::vector<double> harmonic_coefficients(std::size_t N);

/// Features times `turns` (.., F) -> (.., (2N + 1) n F); themselves where they do not exist.
Features turned(const Features& features, const Var& turns);

/// When the tokens of a batch are: sums of the gaps (B, T), or first, first + 1, ... (1, T).
Times times_of(const Layout& layout, std::size_t T, double first);

}  // namespace bochner::inline BOCHNER_PRECISION
