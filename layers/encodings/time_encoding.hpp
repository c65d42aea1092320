#pragma once
/// Encodings Phi(t) of continuous time, whose inner products are time kernels K(t, s).

#include <bochner/base/registry.hpp>
#include <bochner/base/time_array.hpp>
#include <bochner/layers/spectral/density.hpp>

namespace bochner::inline BOCHNER_PRECISION {

class TimeEncoding;
struct TimeEncodingSpec;
/// Registry of encodings: densities (custom ones only if added before), and others.
Registry<TimeEncoding, TimeEncodingSpec>& time_encodings();
/// Returns the names of uses. "concatenate": W [x, Phi(t)] below the blocks. "add": x + W Phi(t)
/// there. "attend": queries and keys of every block see [x, Phi(t)], values x. "rotate": queries
/// and keys are rotated by the phases of t.
std::vector<std::string> time_uses();

/// Kind, initialization and use of a time encoding. Times are in units of TimeScale.
struct TimeEncodingSpec {
  std::string kind = "none";
  std::string use = "concatenate";      ///< see time_uses()
  std::size_t m = 16;                   ///< frequencies, or base frequencies of Mercer encodings
  std::size_t degree = 4;               ///< Mercer: harmonics of each base frequency (J)
  bool paired = true;                   ///< Mercer: sines share the coefficients of cosines
  double shortest = 1, longest = 1000;  ///< initial periods, unless drawn
  /// Initial spacing between them: "geometric", or "linear" in the frequencies.
  std::string spacing = "geometric";
  bool endpoint = true;  ///< whether the last of them has the longest period
  /// Density of drawn frequencies; kind and sizes are set from above. Sobol spreads best.
  DensitySpec density = {.draws = "sobol", .log_scale = 0};
  OwnSpecs own = {};  ///< of encodings added to the registry
};
/// The keys of frequencies that are drawn from a density.
inline void describe_drawn(Keys& keys, DensitySpec& density) {
  keys("log_scale", density.log_scale, between(-20, 20),
       "initial log standard deviation of the frequencies, in radians per median gap");
  keys("redraw", density.redraw, at_least(0),
       "training steps between new base draws, 0 for never; validation keeps the first draws");
  keys.when("kind", {"mixture"})("components", density.components, between(1, 1024),
                                 "Gaussians of the mixture");
  keys.when("kind", {"student_t"})("degrees", density.degrees, degrees_of_freedom(),
                                   "initial degrees of freedom");
  keys.when("kind", {"flow"})("knots", density.knots, between(2, 1024),
                              "bins of the monotone spline");
}
/// The keys of all encodings but "none".
inline void describe_encoding(Keys& keys, TimeEncodingSpec& spec) {
  keys("use", spec.use, one_of(time_uses),
       "where it enters: with the event's embedding (concatenate, add), or in the queries and keys "
       "of every block (attend, rotate)");
  keys("m", spec.m, between(1, 1 << 16),
       "frequencies, or base frequencies of mercer; half a head's channels for rotate");
  keys.when("kind", {"mercer", "mercer_summed"})("degree", spec.degree, between(0, 1024),
                                                 "harmonics of each base frequency");
  keys.when("kind", {"mercer"})(
      "paired", spec.paired,
      "sines share the coefficients of cosines, so that the kernel depends on lags only");
  const KeyCondition listed = keys.is("kind", {"free", "mercer", "mercer_summed", "sinusoidal"});
  keys.when(listed, [&] {
    keys("shortest", spec.shortest, above(0), "shortest initial period, in median gaps");
    keys("longest", spec.longest, above(0), "longest initial period, in median gaps");
    keys("spacing", spec.spacing, one_of({"geometric", "linear"}),
         "spacing of the initial frequencies");
    keys("endpoint", spec.endpoint,
         "whether the last initial frequency has the longest period, or is a step before, as in a "
         "Fourier transform (linear) and in sinusoidal positions (geometric)");
  });
  const KeyCondition events = when("data.kind", {"event_files", "hawkes"});
  keys.when(events && keys.is_not("kind", {"sinusoidal"}))(
      "start", spec.density.start, one_of({"none", "periodogram", "em"}),
      "initial frequencies: by the other keys, at the peaks of the periodogram of the first "
      "training sequences, or a mixture fitted to it (em)");
  keys.when(keys.is_not("kind", listed.values), [&] { describe_drawn(keys, spec.density); });
}
inline void describe(Keys& keys, TimeEncodingSpec& spec) {
  keys("kind", spec.kind, one_of(time_encodings, {"none"}),
       "encoding of time stamps: frequencies drawn from a learned density (gaussian, flow, ..), "
       "learned one by one (free), fixed (sinusoidal), or learned Fourier series (mercer)");
  keys.when(keys.is_not("kind", {"none"}), [&] { describe_encoding(keys, spec); });
  time_encodings().describe_own(keys, spec.own);
}

/// Features Phi(t) of times.
class TimeEncoding : public Module {
 public:
  virtual std::size_t features() const = 0;
  /// (..) -> (.., F)
  virtual Var forward(Tape& tape, const Times& times) = 0;
  /// Returns K as a function of the lag, in expectation over drawn frequencies; empty if K is no
  /// such function or has no closed form.
  virtual std::function<double(double lag)> kernel() { return {}; }
  /// Initializes from draws of a spectrum: a density at their root mean square, a mixture with
  /// start = "em" by EM, learned frequencies at quantiles of their sizes. Throws unless overridden.
  virtual void init_frequencies(const std::vector<double>& frequencies);
  /// Returns whether the features are m^(-1/2) [cos, sin] of m phases, by which pairs can rotate.
  virtual bool rotates() const { return false; }
};

/// Returns the kernel of the features, Phi(at + lag) . Phi(at), per lag.
std::vector<double> estimated_time_kernel(TimeEncoding& encoding, const std::vector<double>& lags,
                                          double at = 0);

/// Makes an encoding; null for "none".
std::unique_ptr<TimeEncoding> make_time_encoding(const TimeEncodingSpec& spec);

/// Draws 64 angular frequencies per event sequence from the periodogram of event counts in bins of
/// half a unit of time, or wider ones to have at most 1024. Sequences without a span give none.
/// times (B, T), ascending; repeats of the last time are ignored.
std::vector<double> event_frequencies(const Times& times, const RandomFunction& random);

/// Initializes all time encodings of a model at event_frequencies(). Throws if there are none.
void init_time_frequencies(Module& model, const Times& times, std::uint64_t seed);

}  // namespace bochner::inline BOCHNER_PRECISION
