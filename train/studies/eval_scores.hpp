#pragma once
/// Scores for `bochner eval`: those of predictions, averaged over draws of the posterior, with
/// their calibration; and the label information in embeddings, by a linear probe and by clusters.

#include <bochner/train/run/instruments/drawn_posteriors.hpp>
#include <bochner/train/tasks/task.hpp>

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

/// Multinomial logistic regression with an L2 penalty: the minimum of the mean of -ln softmax(x W +
/// b)[label] + penalty / 2 |W|^2, by L-BFGS until no part of the gradient is above 1e-7. Columns of
/// x are standardized by their mean and deviation in training. Deterministic, in double.
class LinearProbe {
 public:
  LinearProbe(const Embeddings& training, double penalty = 1e-3);
  /// Returns the most probable class of each row, the first of ties. (n, width) -> (n)
  std::vector<std::int32_t> answers(const Embeddings& embeddings) const;
  /// Returns (width + 1, classes): W, and b in the last row.
  const std::vector<double>& weights() const { return weights_; }

 private:
  std::vector<double> standardized(const Embeddings& embeddings) const;
  std::size_t width_, classes_;
  std::vector<double> mean_, scale_, weights_;
};

/// Returns the purity of k-means clusters of the training part, as many as classes, the best of ten
/// starts: how many rows of the other part have the most frequent class of their cluster. Compares
/// rows by direction: they are scaled to unit length.
double cluster_purity(const Embeddings& training, const Embeddings& other, std::uint64_t seed);

/// Returns both for a split with labels as measures with one term per example; empty without
/// embeddings or labels. Evaluates `batch` examples at a time.
std::vector<Measure> probe_measures(Task& task, Split split, std::size_t batch, std::uint64_t seed);

}  // namespace bochner
