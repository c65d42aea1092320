#pragma once
/// Linear probe and clusters: how much label information embeddings learned without labels contain.

#include <bochner/train/tasks/task.hpp>

namespace bochner {

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
