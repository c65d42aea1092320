#include <bochner/train/tasks/parameter_rows.hpp>

namespace bochner {
namespace {

Rows mixer_rows(const Choices& choices) {
  return {
      {.name = "model.mixer.kind",
       .initial = "softmax",
       .doc =
           "what mixes the positions: exact softmax attention, or linear attention over features",
       .choices = choices.mixers},
      {.name = "model.mixer.heads",
       .initial = whole(4),
       .doc = "heads (H); must divide model.width",
       .range = between(1, 4096)},
  };
}

Rows feature_rows(const Choices& choices) {
  return {
      {.name = "model.mixer.features.kind",
       .initial = "positive",
       .doc = "feature map phi of linear attention: how the kernel is estimated",
       .choices = choices.features},
      {.name = "model.mixer.features.projection",
       .initial = "density",
       .doc = "frequencies: draws of the density, or structured ones under a learned scale",
       .choices = choices.projections},
      {.name = "model.mixer.features.temperature",
       .initial = false,
       .doc = "a learned temperature per head"},
      {.name = "model.mixer.features.spread",
       .initial = 0.0,
       .doc = "above 0: a learned scale of each head's frequencies, whose logarithms start evenly "
              "spaced between -spread and spread",
       .range = between(0, 20)},
      {.name = "model.mixer.features.lambda",
       .initial = whole(4),
       .doc = "draws of lambda (hybrid_angular, hybrid_gaussian)",
       .range = between(1, 1 << 10)},
      {.name = "model.mixer.features.tau",
       .initial = 1.0,
       .doc = "width of lambda at the start (hybrid_gaussian)",
       .range = above(0)},
      {.name = "model.mixer.features.smooth",
       .initial = false,
       .doc = "learned smooth functions in place of signs (hybrid_angular)"},
      {.name = "model.mixer.features.bases",
       .initial = whole(2),
       .doc = "estimators that are mixed (hybrid_learned)",
       .range = between(1, 64)},
      {.name = "model.mixer.features.gates",
       .initial = whole(2),
       .doc = "gates of queries and of keys (hybrid_learned); clusters of each (hybrid_cluster)",
       .range = between(1, 64)},
      {.name = "model.mixer.features.hidden",
       .initial = whole(64),
       .doc = "hidden width of the network that weighs features by the input (wpff)",
       .range = between(1, 1 << 12)},
      {.name = "model.mixer.features.box",
       .initial = 2.0,
       .doc = "half width of the box, times the root of a head's channels, for which fixed weights "
              "are optimal (wpff_fixed)",
       .range = above(0)},
      {.name = "model.mixer.features.rolls",
       .initial = whole(2),
       .doc = "rolled copies (dpfp)",
       .range = between(1, 1 << 12)},
      {.name = "model.mixer.features.length",
       .initial = whole(0),
       .doc = "positions that can be told apart (cosformer), 0 for the tokens of the longest "
              "sequence of the task",
       .range = at_least(0)},
  };
}

Rows denominator_rows() {
  return {
      {.name = "model.mixer.denominator.kind",
       .initial = "clip",
       .doc =
           "where features are signed: raise small sums of weights to a floor, add a constant to "
           "the kernel, or refuse them",
       .choices = among({"clip", "smooth", "refuse"})},
      {.name = "model.mixer.denominator.floor",
       .initial = 0.1,
       .doc = "smallest sum of weights (clip)",
       .range = above(0)},
      {.name = "model.mixer.denominator.constant",
       .initial = 1.0,
       .doc = "what is added to the kernel (smooth)",
       .range = above(0)},
  };
}

Rows frequency_rows(const Choices& choices) {
  return {
      {.name = "model.mixer.m",
       .initial = whole(64),
       .doc = "random features per head (m)",
       .range = between(1, 1 << 16)},
      {.name = "model.mixer.density.kind",
       .initial = "gaussian",
       .doc = "spectral density p(omega): which kernel is learned",
       .choices = choices.densities},
      {.name = "model.mixer.density.log_scale",
       .initial = -1.0,
       .doc = "start of the learned log standard deviation of the frequencies",
       .range = between(-20, 20)},
      {.name = "model.mixer.density.components",
       .initial = whole(4),
       .doc = "Gaussians of a mixture",
       .range = between(1, 1024)},
      {.name = "model.mixer.density.temperature",
       .initial = 0.1,
       .doc = "of the soft choice among the components of a mixture; 0 chooses hard",
       .range = at_least(0)},
      {.name = "model.mixer.density.degrees",
       .initial = 3.0,
       .doc = "start of the degrees of freedom of student_t, twice the order of its Matern kernel",
       .range = above(0.5)},
      {.name = "model.mixer.density.shape",
       .initial = 2.0,
       .doc = "start of the shape of a gamma radius",
       .range = above(0)},
      {.name = "model.mixer.density.knots",
       .initial = whole(8),
       .doc = "bins of the monotone splines of flow and radial",
       .range = between(2, 1024)},
      {.name = "model.mixer.density.layers",
       .initial = whole(0),
       .doc = "coupling layers of a flow, for dependence between coordinates",
       .range = between(0, 64)},
      {.name = "model.mixer.density.hidden",
       .initial = whole(16),
       .doc = "hidden width of a coupling layer",
       .range = between(1, 4096)},
      {.name = "model.mixer.draws",
       .initial = "orthogonal",
       .doc = "base draws of the frequencies",
       .choices = choices.draws},
      {.name = "model.mixer.redraw",
       .initial = whole(0),
       .doc = "steps between new base draws in training, 0 for never; validation keeps the first",
       .range = at_least(0)},
      {.name = "model.mixer.time_kernel.kind",
       .initial = "none",
       .doc = "learned factor of each head: decay exp(-lag/tau), for softmax learned slopes "
              "(ALiBi); rotation, decay with an oscillation; gate, a decay that each token decides",
       .choices = among({"none", "decay", "rotation", "gate"})},
      {.name = "model.mixer.time_kernel.shortest",
       .initial = 4.0,
       .doc = "smallest tau at the start, in tokens",
       .range = above(0)},
      {.name = "model.mixer.time_kernel.longest",
       .initial = 256.0,
       .doc = "largest tau at the start, in tokens",
       .range = above(0)},
      {.name = "model.mixer.convolution",
       .initial = whole(0),
       .doc = "tokens of a learned causal convolution on queries, keys and values, 0 for none",
       .range = between(0, 64)},
      {.name = "model.mixer.chunk",
       .initial = whole(32),
       .doc = "positions that causal linear attention handles at once",
       .range = between(1, 1 << 16)},
  };
}

}  // namespace

Rows all_mixer_rows(const Choices& choices) {
  Rows all;
  for (Rows& rows : std::vector{mixer_rows(choices), feature_rows(choices), frequency_rows(choices),
                                denominator_rows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

}  // namespace bochner
