#pragma once
/// Scores of a model's predictions, averaged over draws of its posterior, and their calibration.

#include <bochner/train/run/instruments/drawn_posteriors.hpp>

namespace bochner {

class Json;

/// Scores of predictions. For classes: nats of the averaged probabilities, and the expected
/// calibration error, the mean distance of confidence from accuracy in 15 bins. Guo et al., "On
/// calibration of modern neural networks", 2017. For values: the error of the averages, and how
/// often the truth lies within the central 90 % of a normal distribution around them, whose
/// variance is that of the draws and of the noise.
struct PredictiveScores {
  std::uint64_t terms = 0;
  std::optional<double> nats, right, calibration_error;
  std::optional<double> rmse, coverage;

  /// Returns "1.4680 nats   52.10 % right ..." or "rmse 0.4321   90 % intervals cover 91.20 %".
  std::string words() const;
  Json json() const;
};

/// Scores all batches of a split; with the present parameters if `draws` is 0. The noise is that of
/// residuals of another split: of training for validation, else of validation, from at most 64
/// batches. Throws std::invalid_argument without such predictions, or without data in a split.
PredictiveScores score_predictions(Task& task, DrawnPosteriors& posteriors, Split split,
                                   std::size_t batch, std::size_t draws);

}  // namespace bochner
