#pragma once
/// How much a linear map and clusters find of labels in embeddings that have not seen any.

#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// Multinomial logistic regression with an L2 penalty: the minimum of the mean of -ln softmax(x W +
/// b)[label] + penalty / 2 |W|^2, by L-BFGS to where no part of the gradient is above 1e-7. Columns
/// of x are in units of their mean and deviation in training. Deterministic, in double.
class LinearProbe {
 public:
  LinearProbe(const Embeddings& training, double penalty = 1e-3);
  /// The likeliest class of each, the first among equals. (n, width) -> (n)
  std::vector<std::int32_t> answers(const Embeddings& embeddings) const;
  /// (width + 1, classes): W, and b in the last row.
  const std::vector<double>& weights() const { return weights_; }

 private:
  std::vector<double> standardized(const Embeddings& embeddings) const;
  std::size_t width_, classes_;
  std::vector<double> mean_, scale_, weights_;
};

/// Of clusters of the training part by k-means, as many as classes, the best of ten starts: how
/// many of the other part are in the class that is most frequent among those of their cluster. Rows
/// are compared by direction: they are scaled to unit length.
double cluster_purity(const Embeddings& training, const Embeddings& other, std::uint64_t seed);

/// Both, of a split whose examples have labels, as measures of as many terms as it has examples;
/// empty where there are no embeddings or labels. `batch` at a time.
std::vector<Measure> probe_measures(Task& task, Split split, std::size_t batch, std::uint64_t seed);

}  // namespace bochner
