#pragma once
/// How good the predictions of a model are, averaged over draws of its posterior, and whether they
/// are as sure as they should be.

#include <bochner/train/run/instruments/drawn_posteriors.hpp>

namespace bochner {

class Json;

/// Of answers among classes: nats are those of the averaged probabilities; calibration_error is the
/// expected one, the mean distance of how sure answers are from how often they are right, in 15
/// bins. Guo et al., "On calibration of modern neural networks", 2017. Of values: the error of the
/// averaged ones, and how often the truth lies within the central 90 % of a normal distribution
/// around them, whose variance is that of the draws and of the noise.
struct PredictiveScores {
  std::uint64_t terms = 0;
  std::optional<double> nats, right, calibration_error;
  std::optional<double> rmse, coverage;

  /// "1.4680 nats   52.10 % right   calibration error 1.32 %" or "rmse 0.4321   90 % intervals
  /// cover 91.20 %"
  std::string words() const;
  Json json() const;
};

/// Of all batches of a split; with the parameters as they are where `draws` is 0. The noise is that
/// of residuals of another split: of training for validation, else of validation, from at most 64
/// batches. Throws std::invalid_argument where a task has no such predictions, or no data in one of
/// these splits.
PredictiveScores score_predictions(Task& task, DrawnPosteriors& posteriors, Split split,
                                   std::size_t batch, std::size_t draws);

}  // namespace bochner
