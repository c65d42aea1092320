#pragma once
/// A linear map of features to classes that is fitted at once.

#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Ridge regression of +1 for the class and -1 for the others on standardized features, in closed
/// form, with the penalty of the least squared leave-one-out error (Hastie, Tibshirani, Friedman,
/// "The elements of statistical learning", 2009, section 7.10). Probabilities are the softmax of
/// scores times the factor that is likeliest for the leave-one-out scores.
class RidgeHead : public Module {
 public:
  RidgeHead(std::size_t features, std::size_t classes);
  /// Fits to features (n, d) and labels (n), and returns the leave-one-out logits. (n, classes)
  Tensor fit(const Tensor& features, const std::vector<std::int32_t>& labels);
  /// Returns the logits of features. (n, d) -> (n, classes)
  Tensor logits(const Tensor& features) const;
  void visit(Visitor& visitor) override;

 private:
  void set_units(const Tensor& features);
  /// Returns features in their units. (n, d)
  std::vector<double> standardized(const Tensor& features) const;

  Tensor units_;    // (d, 2): mean and deviation
  Tensor weights_;  // (d, classes)
  Tensor biases_;   // (classes)
  Tensor factor_;   // (1)
};

}  // namespace bochner::inline BOCHNER_PRECISION
