#pragma once
/// Encodings of continuous time Phi(t), whose inner products are time kernels K(t, s).

#include <bochner/autodiff/times.hpp>
#include <bochner/layers/registry.hpp>
#include <bochner/layers/spectral/density.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Which encoding, where it starts, and what a model does with it. Times are in units of TimeScale.
struct TimeEncodingSpec {
  std::string kind = "none";
  std::string use = "concatenate";      ///< see time_uses()
  std::size_t m = 16;                   ///< frequencies, or base frequencies of Mercer encodings
  std::size_t degree = 4;               ///< Mercer: harmonics of each base frequency (J)
  bool paired = true;                   ///< Mercer: sines share the coefficients of cosines
  double shortest = 1, longest = 1000;  ///< periods at the start, where they are not drawn
  DensitySpec density;  ///< of the others; its kind and sizes are filled in from the above
};

/// Phi(t): features of times.
class TimeEncoding : public Module {
 public:
  virtual std::size_t features() const = 0;
  /// (..) -> (.., F)
  virtual Var forward(Tape& tape, const Times& times) = 0;
  /// K as a function of the lag, with the present parameters and, where frequencies are drawn, in
  /// expectation over them; empty where it is no such function or has no closed form.
  virtual std::function<double(double lag)> kernel() { return {}; }
  /// Whether the features are m^(-1/2) [cos, sin] of m phases, by which pairs can be rotated.
  virtual bool rotates() const { return false; }
};

/// Phi(at + lag) . Phi(at) of each lag: what the features give.
std::vector<double> estimated_time_kernel(TimeEncoding& encoding, const std::vector<double>& lags,
                                          double at = 0);

/// The encodings that configs may name: all densities, those of one's own where they are added
/// first, and those without one.
Registry<TimeEncoding, TimeEncodingSpec>& time_encodings();
/// Null for "none".
std::unique_ptr<TimeEncoding> make_time_encoding(const TimeEncodingSpec& spec);

/// "concatenate": W [x, Phi(t)] below the blocks. "add": x + W Phi(t) there. "attend": queries and
/// keys of every block see [x, Phi(t)], values x. "rotate": queries and keys are rotated by the
/// phases of t.
std::vector<std::string> time_uses();

}  // namespace bochner::inline BOCHNER_PRECISION
