#pragma once
/// Specs of mixers, separate from the mixers to limit what a new key recompiles.

#include <algorithm>
#include <bochner/base/registry.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/spectral/base_draws.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Features of a kind of mixer, registered with its name: mixers().add("mine", make<Mine>, {.heads
/// = true}), or as a function of its spec. Stacks of several kinds disable what one lacks; config
/// checks and reports read them. Defaults: none, except feature maps.
struct MixerTraits {
  bool heads = false;                          ///< must divide the width
  bool queries = false;                        ///< has queries and keys, and rotates them
  bool normalize = false;                      ///< reads the spec's normalize
  bool times = false;                          ///< takes times in them, see TimeAttention
  bool shows_attention = false;                ///< calls AttentionObserver
  std::vector<std::string> time_kernels = {};  ///< except "none"
  bool channel_rates = false;                  ///< time_kernel.per = "channel"
  bool window = false;
  bool convolution = false;  ///< short convolution of the spec
  bool gaps = false;         ///< takes tokens at irregular distances
  bool any_order = false;    ///< ignores the order of tokens if all see all, without time kernel,
                             ///< convolution and rotary positions
  bool carries = false;      ///< the size of its state between tokens is constant
  bool features = true;      ///< reads the spec of feature maps, their densities and denominators
  bool values = false;       ///< attends to values, see ValueResidual

  bool has_time_kernel(const std::string& kind) const {
    return kind == "none" || std::ranges::find(time_kernels, kind) != time_kernels.end();
  }
};

class Mixer;
struct MixerSpec;
using Mixers = Registry<Mixer, MixerSpec, MixerTraits>;
/// Registry of mixers: "softmax", "linear", ..
Mixers& mixers();

/// Learned factor of attention weights that depends on time only, see TimeKernel.
struct TimeKernelSpec {
  std::string kind = "none";
  double shortest = 1;          ///< initial tau of the first head, in tokens
  double longest = 256;         ///< initial tau of the last head; geometric spacing between them
  std::size_t frequencies = 4;  ///< per head (spectral)
  std::size_t harmonics = 1;    ///< per frequency (spectral): more for a larger amplitude
  /// Density of the frequencies (spectral), in units of the initial pi / tau; sizes are set later.
  DensitySpec density = {.draws = "sobol", .log_scale = 0};
  std::string per = "head";  ///< or "channel" of the keys' features (decay, gate)
  std::size_t rank = 16;     ///< of the projection that gates channels, 0 for full rank
};
inline void describe(Keys& keys, TimeKernelSpec& spec) {
  keys("kind", spec.kind, one_of({"none", "decay", "rotation", "spectral", "gate"}),
       "learned factor of each head by the lag: decay is exp(-lag / tau), for softmax learned "
       "slopes (ALiBi); rotation adds an oscillation; spectral is the Fourier transform of a "
       "learned density; gate is a decay that each token sets");
  keys.when(keys.is_not("kind", {"none"}), [&] {
    keys("shortest", spec.shortest, above(0), "smallest initial tau, in tokens");
    keys("longest", spec.longest, above(0), "largest initial tau, in tokens");
  });
  keys.when("kind", {"spectral"}, [&] {
    keys("frequencies", spec.frequencies, between(1, 4096),
         "frequencies of each head, each with 2 harmonics + 1 features");
    keys("harmonics", spec.harmonics, between(1, 64),
         "harmonics of each frequency; more let the factor fall lower");
  });
  const KeyCondition rates =
      has_kind("model.mixer.kind", mixers, "rates per channel", &MixerTraits::channel_rates);
  keys.when(rates && keys.is("kind", {"decay", "gate"}))(
      "per", spec.per, one_of({"head", "channel"}),
      "one rate for each head, or for each channel of the keys' features");
  keys.when(keys.is("kind", {"gate"}) && keys.is("per", {"channel"}))(
      "rank", spec.rank, between(0, 1 << 12),
      "inner width of the projection that gates channels; 0 for full rank");
  keys.when("kind", {"spectral"}).section("density", spec.density);
}

/// Denominator of linear attention with signed features, whose sums of weights may vanish. "clip":
/// at least `floor`; "smooth": adds `constant` to the kernel; "norm": norms each head's output
/// instead of dividing (Qin et al., "The devil in linear transformer", 2022); "refuse": throws.
struct DenominatorSpec {
  std::string kind = "clip";
  double floor = 0.1, constant = 1;
};
inline void describe(Keys& keys, DenominatorSpec& spec) {
  keys("kind", spec.kind, one_of({"clip", "smooth", "norm", "refuse"}),
       "what to do when signed features make the sum of weights small: clip it to a floor, add a "
       "constant to the kernel (smooth), normalize each head's output instead of dividing (norm), "
       "or refuse such features");
  keys.when("kind", {"clip"})("floor", spec.floor, above(0), "smallest sum of weights");
  keys.when("kind", {"smooth"})("constant", spec.constant, above(0),
                                "constant added to the kernel");
}

/// Delta rule (update "delta").
struct DeltaSpec {
  bool negative = false;  ///< strengths up to 2 instead of 1
  bool two_gates = false;
  std::size_t steps = 1;
};
inline void describe(Keys& keys, DeltaSpec& spec) {
  keys("negative", spec.negative,
       "write strengths up to 2, not 1, so that a recalled value can change sign; state tracking "
       "needs it");
  keys("two_gates", spec.two_gates,
       "separate gates for erasing the recalled value and for writing the new one");
  keys("steps", spec.steps, between(1, 16),
       "writes of each token, each with a key, value and strength of its own, at that many times "
       "the cost; products of several are needed to track permutations of more elements");
}

class LowerBounds;

/// What a mixer's values are in a stack: its own, the first ones, or mixed with these.
enum class ValueRole { own, first, later };

/// Position of a mixer in its stack, and objects shared by the stack's mixers. The first mixer that
/// needs a shared object creates it and owns its parameters.
struct StackPlace {
  struct Shared {
    std::shared_ptr<LowerBounds> lower_bounds;
  };
  std::size_t block = 0, blocks = 1;
  std::shared_ptr<Shared> shared = {};  ///< exists if blocks > 1
};

struct MixerSpec {
  std::string kind = "softmax";
  std::size_t width = 128, heads = 4;
  bool causal = true;
  bool rotary = false;             ///< rotate queries and keys by position
  std::string normalize = "none";  ///< normalization of queries and keys, see UnitSphere
  double sharpness = 8;            ///< initial learned sharpness of normalized ones
  std::size_t convolution = 0;     ///< taps of a short convolution of q, k and v; 0 for none
  FeatureSpec features = {};       ///< linear attention; sizes are set from width and heads
  TimeKernelSpec time_kernel = {};
  TimeEncodingSpec time = {};  ///< in queries and keys: use is "attend" or "rotate"
  DenominatorSpec denominator = {};
  std::string update = "sum";  ///< state update of linear attention: "sum" or "delta"
  DeltaSpec delta = {};
  std::size_t window = 0;  ///< last tokens seen exactly, itself included; 0: all or none
  std::size_t chunk = 32;  ///< tokens per chunk of linear attention
  /// Training batches to calibrate feature maps on before the first step; -1: as many as the map
  /// needs, see FeatureMap::needs_calibration().
  std::int64_t calibrate = -1;
  std::string warm = "none";          ///< "exact": see WarmStart
  std::uint64_t warm_steps = 0;       ///< training steps (Tape::step) of the warm start
  std::size_t directions = 0;         ///< 1 or 2; 0: as the model, see in_both_directions()
  std::size_t training_length = 0;    ///< tokens per training sequence, see FilterSpec; set later
  StackPlace place = {};              ///< set by the stack
  ValueRole values = ValueRole::own;  ///< set by the stack
  OwnSpecs own = {};                  ///< specs of custom mixers
};
/// The keys of feature maps and their densities.
inline void describe_features(Keys& keys, FeatureSpec& spec) {
  keys.section("features", spec);
  keys("m", spec.m, between(1, 1 << 16), "random features per head");
  DensitySpec& density = spec.density;
  keys.when(has_frequencies(keys.name_of("features.kind")), [&] {
    keys.section("density", density);
    keys.when("features.weights", {"importance"}, [&] {
      keys("density.proposal", density.proposal, one_of(densities),
           "density that frequencies are drawn from");
      keys("density.proposal_scale", density.proposal_scale, above(0),
           "its scale, in units of the density's own initial scale; at least 1");
    });
    keys("density.start", density.start, one_of({"none", "data"}),
         "initial scale: log_scale, or the median distance of queries and keys in the first "
         "batches (data, see model.mixer.calibrate)");
    keys("draws", density.draws, one_of(base_draw_names), "base draws of the frequencies");
    keys("redraw", density.redraw, at_least(0),
         "training steps between new base draws, 0 for never; validation keeps the first draws");
  });
}
inline void describe(Keys& keys, MixerSpec& spec) {
  keys("kind", spec.kind, one_of(mixers),
       "token mixer: softmax attention, linear attention over features, with states by age "
       "(log_linear), gated recurrences (hgrn2, min_gru, mlstm, rwkv7), state spaces (ssm), "
       "selective ones (mamba, mamba2), long convolutions (hyena, h3, sgconv, long_conv)",
       {.replaced_by = "model.pattern"});
  const auto with = [&](const char* trait, const auto& has, const auto& describe_some) {
    keys.when(has_kind(keys.name_of("kind"), mixers, trait, has), describe_some);
  };
  keys("heads", spec.heads, between(1, 4096), "heads; must divide model.width");
  with("normalized queries", &MixerTraits::normalize, [&] {
    keys("normalize", spec.normalize, one_of({"none", "l2"}),
         "l2: queries and keys have unit length, times a learned sharpness of each head");
    keys.when("normalize", {"l2"})("sharpness", spec.sharpness, above(0), "initial sharpness");
  });
  with("features", &MixerTraits::features, [&] { describe_features(keys, spec.features); });
  const auto has_kernel = [](const MixerTraits& traits) { return !traits.time_kernels.empty(); };
  with("time kernels", has_kernel, [&] { keys.section("time_kernel", spec.time_kernel); });
  with("a convolution", &MixerTraits::convolution, [&] {
    keys("convolution", spec.convolution, between(0, 64),
         "taps of a learned causal convolution on queries, keys and values; 0 for none");
  });
  with("a window", &MixerTraits::window, [&] {
    keys("window", spec.window, between(0, 1 << 24),
         "last tokens, the token itself included, that linear attention weighs exactly and to "
         "which softmax is limited; 0 for no window");
  });
  keys("chunk", spec.chunk, between(1, 1 << 16),
       "positions that causal linear attention computes at once; at most 16 in rwkv7, the power of "
       "two below in log_linear");
  with("features", &MixerTraits::features, [&] { keys.section("denominator", spec.denominator); });
  keys.when("kind", {"linear"})(
      "update", spec.update, one_of({"sum", "delta"}),
      "how the memory is written: sum adds each value under its key; delta writes the difference "
      "to what the key recalls, with a learned strength, unit features and no denominator");
  keys.when("update", {"delta"}).section("delta", spec.delta);
  keys("calibrate", spec.calibrate, between(-1, 64),
       "batches that calibrate feature maps and densities before the first step; -1 for 4 if they "
       "need data, else none");
  keys.when("kind", {"linear"})(
      "warm", spec.warm, one_of({"none", "exact"}),
      "exact: for warm_steps steps, train with the exact softmax kernel (quadratic in the length) "
      "while the feature map learns to imitate it; validation always uses features");
  keys.when(keys.is_not("warm", {"none"}))("warm_steps", spec.warm_steps, at_least(0),
                                           "steps of the warm start");
  keys("directions", spec.directions, between(0, 2),
       "1: tokens see the past, 2: also the future; 0 for 1 in models that predict the next token, "
       "else 2");
  mixers().describe_own(keys, spec.own);
}

}  // namespace bochner::inline BOCHNER_PRECISION
