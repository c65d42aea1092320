#pragma once
#include <bochner/base/numeric/product_precision.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// The keys of train.*: how long, how often, and from which seed.
struct TrainSpec {
  std::uint64_t batch = 16, accumulate = 1, shards = 1;
  std::string precision = "float";
  Period steps = {1000}, time = {};
  std::uint64_t seed = 1;
  bool overfit = false;
  Period log_every = {10};
  bool log_tensorboard = false;
  Period validate_every = {250};
  std::uint64_t validate_batch = 0, validate_batches = 256;
  bool validate_kernels = true;
  std::uint64_t validate_gradients = 0;
  Period checkpoint_every = {300, Period::Unit::seconds};
  std::size_t keep_last = 2, keep_best = 1;
  std::uint64_t patience = 0;
  double min_delta = 0;
  Period curvature_every = {0};
  std::size_t curvature_iterations = 20;
  Period verify = {100};
  bool partition = false;

  ProductPrecision product_precision() const {
    return precision == "bfloat16" ? ProductPrecision::bfloat16 : ProductPrecision::full;
  }
  std::uint64_t examples_per_step() const { return batch * accumulate; }
  std::size_t validation_batch() const { return validate_batch > 0 ? validate_batch : batch; }
};
inline void describe(Keys& keys, TrainSpec& spec) {
  const Bounds countable{.units = PeriodUnits::countable};
  keys("batch", spec.batch, between(1, 1 << 20), "sequences of a batch (B)");
  keys("accumulate", spec.accumulate, between(1, 1 << 20),
       "batches whose gradients are averaged for one step");
  keys("shards", spec.shards, between(1, 1 << 10),
       "equal parts of each batch, with gradients added in a fixed tree: at most so many processes "
       "share a run, and any number of them gives the same bits");
  keys.when(unless("model.kind", {"gp"}))(
      "precision", spec.precision, one_of({"float", "bfloat16"}),
      "factors of matrix products in training steps; sums, weights and validations stay float");
  keys("steps", spec.steps, at_least(0).in(PeriodUnits::countable),
       "length of the training; 0 saves the initial model", resumable);
  keys("time", spec.time, {.units = PeriodUnits::wall_time},
       "time limit of a train, resume or fork, which can then be resumed; 0 for none", resumable);
  keys("seed", spec.seed, at_least(0), "seed of everything random", of_model);
  keys("overfit", spec.overfit,
       "train on the first batch only, to see whether the model can learn");
  keys("log.every", spec.log_every, countable,
       "period of lines of metrics; the last step always has one; 0 for never", resumable);
  keys("log.tensorboard", spec.log_tensorboard,
       "also write metrics as TensorBoard event files in the run directory", resumable);
  keys("validate.every", spec.validate_every, countable, "period of validations, 0 for never",
       resumable);
  keys("validate.batch", spec.validate_batch, between(0, 1 << 20),
       "sequences of a validation batch, 0 for train.batch; fewer if they are longer", resumable);
  keys("validate.batches", spec.validate_batches, at_least(0),
       "most batches of a validation, spread evenly over the split; 0 for all", resumable);
  keys("validate.kernels", spec.validate_kernels,
       "also measure the learned kernels: errors, features in use, drift, entropies", resumable);
  keys.when(keys.is("validate.kernels", {"true"}) && keys.is("overfit", {"false"}))(
      "validate.gradients", spec.validate_gradients, between(0, 1 << 10),
      "batches, at least 2, that measure the noise of the gradient, in all and of the learned "
      "kernels; 0 for none",
      resumable);
  keys("checkpoint.every", spec.checkpoint_every, "period of checkpoints, 0 for only at the end",
       resumable);
  keys("checkpoint.keep_last", spec.keep_last, at_least(1), "newest checkpoints that are kept",
       resumable);
  keys("checkpoint.keep_best", spec.keep_best, at_least(0),
       "best checkpoints by validation loss that are kept", resumable);
  keys("stop.patience", spec.patience, at_least(0),
       "stop after so many validations without improvement, 0 for never", resumable);
  keys("stop.min_delta", spec.min_delta, at_least(0),
       "smallest decrease of the loss that counts as improvement", resumable);
  keys("curvature.every", spec.curvature_every, countable,
       "period of measuring the largest eigenvalue of the loss's Hessian on a batch, 0 for never",
       resumable);
  keys("curvature.iterations", spec.curvature_iterations, between(1, 1000),
       "Lanczos iterations of a measurement, each of about three gradients", resumable);
  keys("verify", spec.verify, countable,
       "period at which the processes of a run compare digests of their state, 0 for never",
       resumable);
  keys("partition", spec.partition,
       "each process of a run holds the optimizer's moments of a part of the weights: less memory, "
       "one more exchange in each step",
       resumable);
}

}  // namespace bochner
