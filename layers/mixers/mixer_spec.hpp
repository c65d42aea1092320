#pragma once
/// Specs of mixers, separate from the mixers to limit what a new key recompiles.

#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/mixers/mixer_traits.hpp>
#include <bochner/layers/registry.hpp>
#include <bochner/layers/spectral/base_draws.hpp>

namespace bochner::inline BOCHNER_PRECISION {

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
       "learned factor of each head: decay exp(-lag/tau), for softmax learned slopes (ALiBi); "
       "rotation, decay with an oscillation; spectral, with the Fourier transform of a learned "
       "density; gate, a decay that each token decides");
  keys("shortest", spec.shortest, above(0), "smallest tau at the start, in tokens");
  keys("longest", spec.longest, above(0), "largest tau at the start, in tokens");
  keys("frequencies", spec.frequencies, between(1, 4096),
       "frequencies of each head, drawn from the density (spectral); each makes 2 harmonics + 1 "
       "features of one");
  keys("harmonics", spec.harmonics, between(1, 64),
       "harmonics of each frequency (spectral): with more of them the factor falls lower");
  keys(
      "per", spec.per, one_of({"head", "channel"}),
      "what has a rate of its own: each head, or in linear attention by decay or gate each channel "
      "of the keys' features, whose tau start spaced between shortest and longest");
  keys("rank", spec.rank, between(0, 1 << 12),
       "inner width of the projection of tokens that gates channels (per = \"channel\"), 0 for a "
       "full one");
  keys.section("density", spec.density);
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
       "where features are signed: raise small sums of weights to a floor, add a constant to the "
       "kernel, norm each head's output in place of the division, or refuse them");
  keys("floor", spec.floor, above(0), "smallest sum of weights (clip)");
  keys("constant", spec.constant, above(0), "what is added to the kernel (smooth)");
}

/// Delta rule (update "delta").
struct DeltaSpec {
  bool negative = false;  ///< strengths up to 2 instead of 1
};
inline void describe(Keys& keys, DeltaSpec& spec) {
  keys("negative", spec.negative,
       "strengths of writing up to 2 in place of 1: what a key recalls can change its sign, which "
       "keeping track of a state takes (update delta)");
}

class Mixer;
class LowerBounds;
struct MixerSpec;
using Mixers = Registry<Mixer, MixerSpec, MixerTraits>;
/// Registry of mixers: "softmax", "linear", ..
Mixers& mixers();

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
  FeatureSpec features;            ///< linear attention; sizes are set from width and heads
  TimeKernelSpec time_kernel;
  TimeEncodingSpec time;  ///< in queries and keys: use is "attend" or "rotate"
  DenominatorSpec denominator;
  std::string update = "sum";  ///< state update of linear attention: "sum" or "delta"
  DeltaSpec delta;
  std::size_t window = 0;  ///< last tokens seen exactly, itself included; 0: all or none
  std::size_t chunk = 32;  ///< tokens per chunk of linear attention
  /// Training batches to calibrate feature maps on before the first step; -1: as many as the map
  /// needs, see FeatureMap::needs_calibration().
  std::int64_t calibrate = -1;
  std::string warm = "none";        ///< "exact": see WarmStart
  std::uint64_t warm_steps = 0;     ///< training steps (Tape::step) of the warm start
  std::size_t directions = 0;       ///< 1 or 2; 0: as the model, see in_both_directions()
  std::size_t training_length = 0;  ///< tokens per training sequence, see FilterSpec; set later
  StackPlace place = {};            ///< set by the stack
  OwnSpecs own = {};                ///< specs of custom mixers
};
inline void describe(Keys& keys, MixerSpec& spec) {
  keys("kind", spec.kind, one_of(mixers),
       "what mixes the positions: exact softmax attention, linear attention over features, gated "
       "recurrences (hgrn2, min_gru, mlstm), state spaces (ssm) or long convolutions (hyena, h3, "
       "sgconv, long_conv)");
  keys("heads", spec.heads, between(1, 4096), "heads (H); must divide model.width");
  keys("normalize", spec.normalize, one_of({"none", "l2"}),
       "l2: queries and keys have unit length, times a learned sharpness of each head: scores are "
       "sharpness cos(q, k), and exponential features have bounded variance");
  keys("sharpness", spec.sharpness, above(0), "learned sharpness at the start (normalize l2)");
  keys.section("features", spec.features);
  keys("m", spec.features.m, between(1, 1 << 16), "random features per head (m)");
  keys.section("density", spec.features.density);
  keys("density.proposal", spec.features.density.proposal, one_of(densities),
       "density q that frequencies are drawn from where features.weights = \"importance\"");
  keys("density.proposal_scale", spec.features.density.proposal_scale, above(0),
       "its scale, in units of the density's own at the start: 1 or more");
  keys(
      "density.start", spec.features.density.start, one_of({"none", "data"}),
      "where the scale starts: at log_scale, or, by the median distance of queries and keys of the "
      "first batches, at the data (see model.mixer.calibrate)");
  keys("draws", spec.features.density.draws, one_of(base_draw_names),
       "base draws of the frequencies");
  keys("redraw", spec.features.density.redraw, at_least(0),
       "steps between new base draws in training, 0 for never; validation keeps the first");
  keys.section("time_kernel", spec.time_kernel);
  keys("convolution", spec.convolution, between(0, 64),
       "tokens of a learned causal convolution on queries, keys and values, 0 for none");
  keys(
      "window", spec.window, between(0, 1 << 24),
      "the last tokens, the token itself among them, that linear attention weighs exactly, by "
      "exp(q . k / sqrt(d)), where features see the older ones only, and that softmax sees at all; "
      "0 for no window");
  keys("chunk", spec.chunk, between(1, 1 << 16),
       "positions that causal linear attention handles at once");
  keys.section("denominator", spec.denominator);
  keys("update", spec.update, one_of({"sum", "delta"}),
       "how linear attention remembers: sum adds every value under its key; delta writes the "
       "difference to what its key recalls, with a learned strength, features at unit length and "
       "no denominator");
  keys.section("delta", spec.delta);
  keys(
      "calibrate", spec.calibrate, between(-1, 64),
      "batches that set the feature maps and densities before the first step, 0 for none; -1 for 4 "
      "where data are needed (hybrid_cluster, hybrid with clusters, sderf, aderf or one of these "
      "as an "
      "estimator, density.start), else none");
  keys("warm", spec.warm, one_of({"none", "exact"}),
       "how training of linear attention begins: exact computes with softmax's kernel itself for "
       "warm_steps steps (quadratic in the length), while the feature map learns to give the same "
       "outputs; validation and sampling are by features all along");
  keys("warm_steps", spec.warm_steps, at_least(0), "steps that warm lasts");
  keys(
      "directions", spec.directions, between(0, 2),
      "1: tokens see what came before them, 2: what follows too; 0 for the model's own, which is 1 "
      "where it predicts the next token and else 2");
  mixers().describe_own(keys, spec.own);
}

}  // namespace bochner::inline BOCHNER_PRECISION
