#pragma once
/// A linear map of features to classes or a number that is fitted at once.

#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Ridge regression on standardized features in closed form, with the penalty of the least squared
/// leave-one-out error: a RidgePath. Of classes: of +1 for the class and -1 for the others;
/// probabilities are the softmax of scores times the factor that is likeliest for the leave-one-out
/// scores.
class RidgeHead : public Module {
 public:
  /// `outputs`: classes, or 1 for a number.
  RidgeHead(std::size_t features, std::size_t outputs);
  /// Fits to features (n, d) and labels (n), and returns the leave-one-out logits. (n, classes)
  Tensor fit(const Tensor& features, const std::vector<std::int32_t>& labels);
  /// Fits to features (n, d) and numbers (n), and returns the leave-one-out predictions. (n)
  std::vector<double> fit(const Tensor& features, const std::vector<double>& numbers);
  /// Returns the logits of features, or the numbers predicted. (n, d) -> (n, outputs)
  Tensor outputs(const Tensor& features) const;
  /// Returns how much a feature adds to an output on average where it is one deviation larger.
  double effect(std::size_t feature, std::size_t output) const {
    return double(factor_(0)) * double(weights_(feature, output));
  }
  /// Returns a feature in its unit.
  double standardized(double value, std::size_t feature) const {
    return (value - double(units_(feature, 0))) / double(units_(feature, 1));
  }
  void visit(Visitor& visitor) override;

 private:
  void set_units(const Tensor& features);
  /// Returns features in their units. (n, d)
  std::vector<double> standardized(const Tensor& features) const;
  /// Fits to targets (n, outputs), whose means must be the biases, and returns the leave-one-out
  /// errors. (n, outputs)
  std::vector<double> fit_centred(const Tensor& features, const std::vector<double>& targets);

  Tensor units_;    // (d, 2): mean and deviation
  Tensor weights_;  // (d, outputs)
  Tensor biases_;   // (outputs)
  Tensor factor_;   // (1)
};

}  // namespace bochner::inline BOCHNER_PRECISION
