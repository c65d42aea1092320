#pragma once
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Layout of the key features (F) of a head, for decay rates per channel: features `period` apart
/// share a frequency and an initial rate; with `constant`, the last one is a constant with the
/// slowest initial rate. A count of 0 means a rate per head.
struct KeyChannels {
  std::size_t count = 0, period = 0;
  bool constant = false;
};

/// Learned factor of attention weights that depends on time only, per head. By Bochner's theorem
/// exp(-lag / tau) has a Cauchy density; products with cos(nu lag) shift it.
///   decay     exp(-lag / tau)
///   rotation  exp(-lag / tau) (1 + b^2 / 2 cos(nu lag)), 0 < b < 1: a mixture of Cauchy densities
///             at 0 and +-nu, never negative
///   spectral  exp(-lag / tau) (1 + sum_k 2 (b^k c_k)^2 k(k lag)), where k(lag) is the mean of
///             cos(nu lag) over n draws nu of a learned density: an atom at 0, that density and its
///             N harmonics, convolved with a Cauchy density; never negative. c_k as in
///             harmonic_coefficients(): 1 + b^2 / 2 k(lag) for N = 1
///   gate      exp(-sum of softplus(w . x + b) over the tokens between): each token decides how
///             much of the past to keep (gated linear attention; Yang et al., 2024)
/// decay and gate may be per channel: each product phi_f(q) phi_f(k) then has its own decay.
class TimeKernel : public Module {
 public:
  TimeKernel(const TimeKernelSpec& spec, std::size_t heads, std::size_t width,
             const KeyChannels& channels = {});
  bool active() const { return kind_ != "none"; }
  /// Throws under the name of `op` if a window meets gaps in time, whose sum over it is not known.
  void require_window(bool regular, const char* op) const {
    require(regular || !active(), op,
            "a window with a time kernel requires tokens at equal distances");
  }
  /// Returns the log decay from token to token: (H); (B, T, H) for gates or irregular times; with a
  /// last axis (F) per channel; nonexistent for "none". x (B, T, D)
  Var rate(Tape& tape, Normed& x, const Layout& layout = {});
  Var rate(Tape& tape, const Var& x, const Layout& layout = {}) {
    Normed rows(x);
    return rate(tape, rows, layout);
  }
  /// Returns all (nu_i, a_i) of the factor 1 + sum_i a_i cos(nu_i lag) on the decay. (H, n N, 2), n
  /// = N = 1 for "rotation"; nonexistent without frequencies.
  Var rotation(Tape& tape);
  /// Returns features of that factor at T tokens from time `first`. (B, T, H, (2N + 1) n), or (1,
  /// T, ..) for regular tokens; nonexistent without frequencies.
  Var modulation(Tape& tape, const Layout& layout, std::size_t T, double first);
  void visit(Visitor& visitor) override;

 private:
  bool rotates() const { return kind_ == "rotation" || kind_ == "spectral"; }
  Var frequencies(Tape& tape);  // (H, n)
  void initialize_gates(const Tensor& rates, std::size_t width, std::size_t rank);
  Var gated_rate(Tape& tape, const Var& x);

  std::string kind_;
  std::size_t harmonics_ = 1;
  std::size_t heads_, channels_;
  Parameter log_rate_, log_frequency_, logit_;  // (H), or rates (H, F)
  Parameter gate_, gate_bias_;                  // (D, H), (H), or (D or rank, H F), (H F)
  Parameter gate_down_;                         // (D, rank)
  std::unique_ptr<SpectralDensity> density_;    // "spectral", in units of unit_
  Tensor unit_;                                 // initial pi / tau (H, 1, 1)
};

/// Returns the coefficients c_1 .. c_N of the polynomial 1 + sum_k 2 c_k cos(k x) >= 0 with the
/// largest c_1 = cos(pi / (N + 2)), 1/2 for N = 1. Fejer, 1915.
std::vector<double> harmonic_coefficients(std::size_t N);

/// Multiplies features by `modulation`, if it exists. (.., F) -> (.., (2N + 1) n F)
Features modulated(const Features& features, const Var& modulation);

/// Returns the times of a batch: sums of gaps (B, T), or first, first + 1, ... (1, T).
Times times_of(const Layout& layout, std::size_t T, double first);

}  // namespace bochner::inline BOCHNER_PRECISION
