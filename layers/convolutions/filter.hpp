#pragma once
/// Filters: kernels of long convolutions, parameterized by few numbers or one per lag.

#include <bochner/base/registry.hpp>
#include <bochner/layers/impulse_response.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {

class Filter;
struct FilterSpec;
/// Registry of filters: "implicit", "explicit", "dyadic", "exponential", "spectral".
Registry<Filter, FilterSpec>& filters();

struct FilterSpec {
  std::string kind = "auto";
  std::size_t length = 0;  ///< lags; 0: those of the training sequences, see lags()
  // implicit
  std::size_t features = 5, hidden = 64, layers = 2;
  double frequency = 10;  ///< initial frequency of the sines
  bool learn_positions = false;
  double slow = 1.5, fast = 0.3, shift = 0;  ///< window
  // explicit
  double deviation = 0.002, squash = 0.002, dropout = 0;
  std::string start = "random";
  std::size_t smooth = 0;
  std::size_t piece = 1;  ///< values per piece (dyadic)
  // exponential, spectral
  std::size_t states = 32;
  std::string eigenvalues = "lin";       ///< initial eigenvalues of exponential
  double shortest = 20, longest = 2000;  ///< initial time constants, in tokens
  DensitySpec density = {.draws = "sobol", .log_scale = 0};

  // set by mixers
  std::size_t width = 0;     ///< channels of the model (D)
  std::size_t copies = 1;    ///< filters per channel
  std::size_t training = 0;  ///< tokens per training sequence
  std::size_t channels() const { return width * copies; }
  /// Returns the length of filters whose time grid is part of the model.
  std::size_t lags() const { return length > 0 ? length : training > 0 ? training : 1024; }
};
/// A filter is of this kind, which is the published one ("auto") of the mixer.
inline KeyCondition is_filter(const Keys& keys, const char* kind, const char* mixer) {
  return keys.is("kind", {kind}) ||
         (keys.is("kind", {"auto"}) && when("model.mixer.kind", {mixer}));
}
/// The keys of functions of the position in a window.
inline void describe_implicit(Keys& keys, FilterSpec& spec) {
  keys("features", spec.features, between(1, 1025),
       "features of a position, an odd number: time, cosines and sines");
  keys("hidden", spec.hidden, between(1, 4096), "hidden width");
  keys("layers", spec.layers, between(0, 64), "hidden layers after the first");
  keys("frequency", spec.frequency, above(0), "initial learned factor in the sines");
  keys("learn_positions", spec.learn_positions, "learn the features of positions too");
  keys("slow", spec.slow, above(0),
       "time in which the window of the slowest channel falls to 1/100, in units of the length");
  keys("fast", spec.fast, above(0), "that time of the fastest channel");
  keys("shift", spec.shift, at_least(0), "constant to which the window falls");
}
/// The keys of kernels whose numbers are parameters.
inline void describe_explicit(Keys& keys, FilterSpec& spec) {
  keys("deviation", spec.deviation, above(0), "initial deviation of the numbers");
  keys("squash", spec.squash, at_least(0),
       "soft threshold: each number moves this far towards zero and stops there");
  keys("smooth", spec.smooth, between(0, 4096),
       "lags on either side over which numbers are averaged, 0 for none");
  keys("dropout", spec.dropout, below(0, 1), "probability that training drops a number");
  keys("start", spec.start, one_of({"random", "decay"}),
       "initial numbers: equally large (random), or falling exponentially in each channel (decay)");
}
inline void describe(Keys& keys, FilterSpec& spec) {
  keys.when(unless("model.mixer.kind", {"sgconv"}))(
      "kind", spec.kind, one_of(filters, {"auto"}),
      "kernel of long convolutions: implicit (sines of positions in a window), explicit (free "
      "numbers), dyadic (pieces that double in length), exponential (damped waves: a diagonal "
      "state space), spectral (Fourier transform of a learned density, with decay); auto as "
      "published: implicit for hyena, explicit for long_conv, exponential for h3");
  keys("length", spec.length, between(0, 1 << 24),
       "lags of the kernel, which is zero beyond; 0 for the training length, or for all lags "
       "(exponential, spectral)");
  keys.when(is_filter(keys, "implicit", "hyena"), [&] { describe_implicit(keys, spec); });
  keys.when(is_filter(keys, "explicit", "long_conv"), [&] { describe_explicit(keys, spec); });
  keys.when(keys.is("kind", {"dyadic"}) || when("model.mixer.kind", {"sgconv"}))(
      "piece", spec.piece, between(1, 4096),
      "numbers of a piece, linear in between; pieces last so many lags, as many, twice, four times "
      ".. as many; sgconv with 1 has constant pieces, by prefix sums");
  const KeyCondition waves = is_filter(keys, "exponential", "h3");
  keys.when(waves || keys.is("kind", {"spectral"}), [&] {
    keys("states", spec.states, between(1, 65536),
         "damped waves of each channel, or frequencies drawn from the density");
    keys("shortest", spec.shortest, above(0), "smallest initial time constant, in tokens");
    keys("longest", spec.longest, above(0), "largest initial time constant, in tokens");
  });
  keys.when(waves)("eigenvalues", spec.eigenvalues, one_of({"legs", "lin", "inv"}),
                   "initial waves: eigenvalues of HiPPO-LegS, -1/2 + i pi n, or its inverse law");
  keys.when("kind", {"spectral"}).section("density", spec.density);
}

/// Lags 0 .. count - 1, as rows in ascending or descending order.
struct Lags {
  std::size_t count;
  bool descending = false;
};

/// Selects the rows of these lags. (length, ..) -> (count, ..)
Var rows_of(const Var& rows, const Lags& lags);

/// One-sided kernels, one per channel.
class Filter : public Module {
 public:
  /// Returns the kernels at these lags, count <= limit(). -> (count, channels)
  virtual Var at(Tape& tape, const Lags& lags) = 0;
  /// Returns the lag from which on the kernels are zero.
  virtual std::size_t limit() const { return std::numeric_limits<std::size_t>::max(); }
  /// Draws and density of the filter's frequencies, see ImpulseResponse.
  virtual Tensor drawn_frequencies() { return zeros({0}); }
  virtual std::function<double(double)> frequency_density(std::size_t) { return {}; }
};

/// Kernels to the past and, if not causal, to the future, plus a skip weight for the token itself,
/// initialized normal with deviation 1.
class TwoSidedFilter : public Module, public ImpulseResponse {
 public:
  TwoSidedFilter(const FilterSpec& spec, bool causal);
  /// Kernel for long_convolution() over all lags of T tokens: `kernel` (L, channels).
  struct Rows {
    Var kernel;
    std::size_t future;
  };
  Rows rows(Tape& tape, std::size_t T);
  /// Returns the kernel to the past, channels first .. first + count - 1, for streams.
  Tensor past(std::size_t lags, std::size_t first, std::size_t count);
  std::size_t limit() const { return past_->limit(); }
  Tensor response(std::size_t count) override { return past(count, 0, skip_.shape()[0]); }
  Tensor drawn_frequencies() override { return past_->drawn_frequencies(); }
  std::function<double(double)> frequency_density(std::size_t channel) override {
    return past_->frequency_density(channel);
  }
  void visit(Visitor& visitor) override {
    visitor("past", *past_);
    if (future_) visitor("future", *future_);
    visitor("skip", skip_);
  }

 private:
  Var skip_kernel(Tape& tape, std::size_t before, std::size_t after);

  std::unique_ptr<Filter> past_, future_;
  Parameter skip_;  // (channels)
};

/// Filter spec shared by all mixers that have one: model.mixer.filter.
struct FilterSection {
  FilterSpec filter;
};
inline void describe(Keys& keys, FilterSection& section) { keys.section("filter", section.filter); }

/// Adds the filters that a source defines.
using AddFilters = void(Registry<Filter, FilterSpec>& all);
AddFilters add_implicit, add_explicit, add_dyadic, add_waves;

}  // namespace bochner::inline BOCHNER_PRECISION
