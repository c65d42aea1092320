#include <bochner/train/tasks/data_kinds.hpp>
#include <bochner/train/tasks/key_checks.hpp>
#include <bochner/train/tasks/parameter_rows.hpp>

namespace bochner {
namespace {

Rows model_rows() {
  return {
      {.name = "model.kind",
       .initial = "lm",
       .doc = "what is trained: lm predicts the next token, classifier a label of the sequence, "
              "forecaster the rows that follow, events type and time of the next event, field the "
              "next frame",
       .choices = among({"lm", "classifier", "forecaster", "events", "field"})},
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

std::vector<std::string> data_kind_names() {
  std::vector<std::string> names;
  for (const DataKind& kind : data_kinds()) names.push_back(kind.name);
  return names;
}

Rows data_rows() {
  return {
      {.name = "data.kind",
       .initial = "bytes",
       .doc = "bytes of text files, images, a series of numbers, events of files, or generated "
              "examples: see "
              "tasks.md",
       .choices = data_kind_names},
      {.name = "data.files",
       .initial = std::vector<std::string>{},
       .doc = "what is read from files: files or globs, from the current folder; the "
              "resolved "
              "config holds absolute paths",
       .resume = true,
       .path = true},
      {.name = "data.length",
       .initial = whole(256),
       .doc = "tokens of a window or sequence (T); listops: of the longest expression",
       .range = between(1, 1 << 24)},
      {.name = "data.validation",
       .initial = 0.1,
       .doc =
           "bytes, images, event_files, field_files: fraction kept for validation, rounded up, "
           "0 for none: the last bytes, images, sequences or films; of a single sequence or film "
           "its last events or frames",
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
       .doc = "length of the training",
       .range = above(0),
       .units = PeriodUnits::countable,
       .resume = true},
      {.name = "train.time",
       .initial = Period{},
       .doc = "limit of a train, resume or fork, 0 for none; then it stops and can be resumed",
       .units = PeriodUnits::wall_time,
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
       .units = PeriodUnits::countable,
       .resume = true},
      {.name = "train.validate.every",
       .initial = steps(250),
       .doc = "how often the model is validated, 0 for never",
       .units = PeriodUnits::countable,
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
       .doc = "smallest improvement that counts for patience, in the unit of the loss",
       .range = at_least(0),
       .resume = true},
  };
}

}  // namespace

ParameterTable standard_parameters(const Choices& choices) {
  Rows all;
  for (Rows& rows :
       std::vector{model_rows(), forecaster_rows(), all_mixer_rows(choices), all_time_rows(choices),
                   field_model_rows(), data_rows(), images_rows(), series_rows(), all_event_rows(),
                   field_data_rows(), optimizer_rows(), train_rows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return ParameterTable(std::move(all), key_checks());
}

}  // namespace bochner
