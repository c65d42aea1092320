#include <bochner/data/token_tasks.hpp>
#include <bochner/train/config/parameters.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::int64_t whole(std::int64_t number) { return number; }

NameList among(std::vector<std::string> names) {
  return [names = std::move(names)] { return names; };
}

Range between(double lowest, double highest) { return {lowest, highest}; }
Range at_least(double lowest) { return {.lowest = lowest}; }
Range above(double lowest) { return {.lowest = lowest, .above_lowest = true}; }
/// lowest <= x < highest
Range below(double lowest, double highest) {
  return {.lowest = lowest, .highest = highest, .below_highest = true};
}

Period seconds(double count) { return {count, Period::Unit::seconds}; }
Period steps(double count) { return {count, Period::Unit::steps}; }

using Rows = std::vector<ParameterRow>;

Rows model_rows() {
  return {
      {.name = "model.kind",
       .initial = "lm",
       .doc = "what is trained: lm predicts the next token, classifier a label of the sequence",
       .choices = among({"lm", "classifier"})},
      {.name = "model.blocks",
       .initial = whole(4),
       .doc = "number of blocks",
       .range = between(1, 10000)},
      {.name = "model.width",
       .initial = whole(128),
       .doc = "channels of the residual stream (D)",
       .range = between(1, 1 << 16)},
      {.name = "model.expansion",
       .initial = whole(4),
       .doc = "hidden width of the MLP in units of model.width",
       .range = between(1, 64)},
      {.name = "model.dropout",
       .initial = 0.0,
       .doc = "probability that an activation is dropped in training",
       .range = below(0, 1)},
      {.name = "model.positions",
       .initial = "learned",
       .doc = "how positions enter",
       .choices = among({"learned", "sinusoidal", "rotary", "none"})},
      {.name = "model.norm",
       .initial = "layer",
       .doc = "normalisation at the start of a block: layer norm or RMS norm",
       .choices = among({"layer", "rms"})},
      {.name = "model.pooling",
       .initial = "mean",
       .doc =
           "classifier: mean of all tokens' outputs, or that of a class token put in front (cls)",
       .choices = among({"mean", "cls"})},
      {.name = "model.checkpoint",
       .initial = false,
       .doc =
           "recompute the activations of each block in the backward pass: less memory, more time",
       .resume = true},
  };
}

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
       .doc = "positions that can be told apart (cosformer), 0 for data.length",
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
       .doc = "decay: a learned factor exp(-lag/tau) per head; for softmax, learned slopes (ALiBi)",
       .choices = among({"none", "decay"})},
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

std::vector<std::string> data_kinds() {
  std::vector<std::string> kinds = token_task_kinds();
  kinds.insert(kinds.begin(), "bytes");
  kinds.push_back("listops");
  return kinds;
}

Rows data_rows() {
  return {
      {.name = "data.kind",
       .initial = "bytes",
       .doc = "bytes of text files, or generated examples: see tasks.md",
       .choices = data_kinds},
      {.name = "data.files",
       .initial = std::vector<std::string>{},
       .doc = "bytes: files or globs, from the current folder; the resolved config holds absolute "
              "paths",
       .path = true},
      {.name = "data.length",
       .initial = whole(256),
       .doc = "tokens of a window or sequence (T); listops: of the longest expression",
       .range = between(1, 1 << 24)},
      {.name = "data.validation",
       .initial = 0.1,
       .doc = "bytes: fraction of the data kept for validation, 0 for none",
       .range = below(0, 1)},
      {.name = "data.train_examples",
       .initial = whole(10000),
       .doc = "generated: training examples of an epoch; they cost no memory",
       .range = between(1, 1e12)},
      {.name = "data.validation_examples",
       .initial = whole(1000),
       .doc = "generated: examples kept for validation, 0 for none",
       .range = between(0, 1e12)},
      {.name = "data.vocabulary",
       .initial = whole(20),
       .doc = "generated sequences: number of different tokens",
       .range = between(2, 1 << 20)},
      {.name = "data.items",
       .initial = whole(16),
       .doc = "symbols of selective_copy, pairs of multi_query_recall",
       .range = between(1, 1 << 20)},
      {.name = "data.targets",
       .initial = "answers",
       .doc = "generated sequences: train on the answers, or on every next token (all)",
       .choices = among({"answers", "all"})},
      {.name = "data.shortest",
       .initial = whole(4),
       .doc = "listops: tokens of the shortest expression",
       .range = between(4, 1 << 24)},
      {.name = "data.depth",
       .initial = whole(10),
       .doc = "listops: most levels of an expression",
       .range = between(2, 100)},
      {.name = "data.arguments",
       .initial = whole(10),
       .doc = "listops: most arguments of an operation",
       .range = between(2, 1000)},
  };
}

Rows optimizer_rows() {
  return {
      {.name = "optim.kind",
       .initial = "adamw",
       .doc = "optimizer",
       .choices = among({"adamw", "adam", "sgd"})},
      {.name = "optim.lr",
       .initial = 1e-3,
       .doc = "largest learning rate of the schedule",
       .range = at_least(0)},
      {.name = "optim.betas",
       .initial = std::vector<double>{0.9, 0.95},
       .doc = "decay of the running mean and square of the gradient (adam, adamw)",
       .range = below(0, 1)},
      {.name = "optim.epsilon",
       .initial = 1e-8,
       .doc = "added to the root of the running square (adam, adamw)",
       .range = above(0)},
      {.name = "optim.weight_decay",
       .initial = 0.1,
       .doc = "decay of the weights; norms, biases and spectral parameters are not decayed",
       .range = at_least(0)},
      {.name = "optim.momentum", .initial = 0.9, .doc = "momentum (sgd)", .range = below(0, 1)},
      {.name = "optim.nesterov", .initial = false, .doc = "Nesterov's momentum (sgd)"},
      {.name = "optim.clip",
       .initial = 1.0,
       .doc = "largest global norm of the gradient, 0 for no limit",
       .range = at_least(0)},
      {.name = "optim.clip_value",
       .initial = 0.0,
       .doc = "largest absolute entry of the gradient, 0 for no limit",
       .range = at_least(0)},
      {.name = "optim.groups",
       .initial = std::vector<GroupRule>{},
       .doc = "settings of the parameters whose name matches a pattern: "
              "{ match, lr_factor, weight_decay }"},
      {.name = "optim.ema",
       .initial = 0.0,
       .doc = "decay of the running mean of the weights, 0 for none",
       .range = below(0, 1)},
      {.name = "optim.schedule.kind",
       .initial = "constant",
       .doc = "learning rate as a function of the step, after the warm-up",
       .choices = among({"constant", "cosine", "linear", "inverse_sqrt", "wsd"})},
      {.name = "optim.schedule.warmup",
       .initial = whole(0),
       .doc = "steps of linear warm-up",
       .range = at_least(0)},
      {.name = "optim.schedule.floor",
       .initial = 0.0,
       .doc = "learning rate at the end",
       .range = at_least(0)},
      {.name = "optim.schedule.decay",
       .initial = whole(0),
       .doc = "steps of decay at the end (wsd)",
       .range = at_least(0)},
  };
}

Rows train_rows() {
  return {
      {.name = "train.batch",
       .initial = whole(16),
       .doc = "sequences of a batch (B)",
       .range = between(1, 1 << 20)},
      {.name = "train.accumulate",
       .initial = whole(1),
       .doc = "batches whose gradients are added to one step",
       .range = between(1, 1 << 20)},
      {.name = "train.steps",
       .initial = steps(1000),
       .doc = "length of the training: 1000, 2e or 10Mt",
       .range = above(0),
       .resume = true},
      {.name = "train.time",
       .initial = Period{},
       .doc = "limit in wall time, such as 30min; 0 for none",
       .resume = true},
      {.name = "train.seed",
       .initial = whole(1),
       .doc = "seed of everything random",
       .range = at_least(0)},
      {.name = "train.overfit",
       .initial = false,
       .doc = "train on the first batch only, to see whether the model can learn"},
      {.name = "train.log.every",
       .initial = steps(10),
       .doc = "how often a line of metrics is written, 0 for never",
       .resume = true},
      {.name = "train.validate.every",
       .initial = steps(250),
       .doc = "how often the model is validated, 0 for never",
       .resume = true},
      {.name = "train.validate.batches",
       .initial = whole(0),
       .doc = "most batches of a validation, 0 for all",
       .range = at_least(0),
       .resume = true},
      {.name = "train.validate.kernels",
       .initial = true,
       .doc = "at a validation, also error, effective features and drift of the learned kernels",
       .resume = true},
      {.name = "train.checkpoint.every",
       .initial = seconds(300),
       .doc = "how often a checkpoint is saved, 0 for only at the end",
       .resume = true},
      {.name = "train.checkpoint.keep_last",
       .initial = whole(2),
       .doc = "newest checkpoints that are kept",
       .range = at_least(1),
       .resume = true},
      {.name = "train.checkpoint.keep_best",
       .initial = whole(1),
       .doc = "best checkpoints by validation loss that are kept",
       .range = at_least(0),
       .resume = true},
      {.name = "train.stop.patience",
       .initial = whole(0),
       .doc = "stop after so many validations without improvement, 0 for never",
       .range = at_least(0),
       .resume = true},
      {.name = "train.stop.min_delta",
       .initial = 0.0,
       .doc = "smallest improvement that counts, in the unit of the loss",
       .range = at_least(0),
       .resume = true},
  };
}

}  // namespace

ParameterTable standard_parameters(const Choices& choices) {
  Rows all;
  for (Rows& rows : std::vector{model_rows(), mixer_rows(choices), feature_rows(choices),
                                frequency_rows(choices), denominator_rows(), data_rows(),
                                optimizer_rows(), train_rows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return ParameterTable(std::move(all));
}

}  // namespace bochner::inline BOCHNER_PRECISION
