#pragma once
/// Filters: kernels of long convolutions, parameterized by few numbers or one per lag.

#include <bochner/layers/impulse_response.hpp>
#include <bochner/layers/registry.hpp>
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
inline void describe(Keys& keys, FilterSpec& spec) {
  keys("kind", spec.kind, one_of(filters, {"auto"}),
       "kernel of long convolutions: implicit (sines over positions, in a window), explicit "
       "(numbers one by one), dyadic (numbers on pieces that double in length), exponential (a sum "
       "of damped waves: a diagonal state space), "
       "spectral (the Fourier transform of a learned density, with decay); auto: as published of "
       "the mixer, implicit of hyena, explicit of long_conv, exponential of h3");
  keys("length", spec.length, between(0, 1 << 24),
       "lags of the kernel, which is zero beyond; 0: as many as training sequences have tokens, of "
       "exponential and spectral all");
  keys("features", spec.features, between(1, 1025),
       "features of a position (implicit), an odd number: time, cosines and sines");
  keys("hidden", spec.hidden, between(1, 4096), "hidden width (implicit)");
  keys("layers", spec.layers, between(0, 64), "hidden layers behind the first (implicit)");
  keys("frequency", spec.frequency, above(0),
       "start of the learned factor in the sines (implicit)");
  keys("learn_positions", spec.learn_positions, "learn the features of positions too (implicit)");
  keys("slow", spec.slow, above(0),
       "time in which the window of the slowest channel falls to 1/100, in units of the length "
       "(implicit)");
  keys("fast", spec.fast, above(0), "that of the fastest channel (implicit)");
  keys("shift", spec.shift, at_least(0), "constant that the window falls to (implicit)");
  keys("deviation", spec.deviation, above(0), "deviation of the numbers at the start (explicit)");
  keys("squash", spec.squash, at_least(0),
       "what each number is moved towards zero, and stays there (explicit)");
  keys("smooth", spec.smooth, between(0, 4096),
       "lags on either side that a number is the mean of, 0 for none (explicit)");
  keys("piece", spec.piece, between(1, 4096),
       "numbers of a piece of the kernel, linear between them; pieces are so many lags, as many, "
       "twice, four times .. as many (dyadic, sgconv: 1 for constant pieces, by prefix sums)");
  keys("dropout", spec.dropout, below(0, 1),
       "probability that a number is dropped in training (explicit)");
  keys(
      "start", spec.start, one_of({"random", "decay"}),
      "random: equally large numbers; decay: falling by an exponential of each channel (explicit)");
  keys("states", spec.states, between(1, 65536),
       "damped waves of each channel (exponential), frequencies drawn from the density (spectral)");
  keys(
      "eigenvalues", spec.eigenvalues, one_of({"legs", "lin", "inv"}),
      "what the waves of each channel start with: eigenvalues of HiPPO-LegS, -1/2 + i pi n, or its "
      "inverse law (exponential)");
  keys("shortest", spec.shortest, above(0),
       "smallest time constant at the start, in tokens (exponential, spectral)");
  keys("longest", spec.longest, above(0),
       "largest time constant at the start, in tokens (exponential, spectral)");
  keys.section("density", spec.density);
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
  /// Returns frequencies drawn from the filter's density, see ImpulseResponse.
  virtual Tensor drawn_frequencies() { return zeros({0}); }
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
  void visit(Visitor& visitor) override;

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
