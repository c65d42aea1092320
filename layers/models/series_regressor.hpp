#pragma once
/// A number for each series, with quantiles that hold on held-out examples.

#include <bochner/layers/models/series_model.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct SeriesRegressorSpec : SeriesModelSpec {
  LossSpec loss;
  std::vector<double> quantiles = {0.1, 0.5, 0.9};  ///< levels (loss "quantile")

  bool predicts_quantiles() const { return loss.kind == "quantile"; }
  bool predicts_deviation() const { return loss.kind == "gaussian"; }
  /// Returns the levels of the quantiles of an answer: those of the loss, or the ends of intervals
  /// of 80 and 95 %.
  std::vector<double> levels() const;
};
inline void describe(Keys& keys, SeriesRegressorSpec& spec) {
  describe(keys, static_cast<SeriesModelSpec&>(spec));
  describe(keys, spec.loss);
  describe_quantiles(keys, spec.quantiles);
}

/// Answers to series in the unit of the numbers.
struct NumberAnswers {
  std::vector<double> expected;   ///< (n) mean; median for losses "mae" and "quantile"
  std::vector<double> quantiles;  ///< (n, levels), ascending; empty if they are unknown
};

/// Maps series to numbers. In training: mean 0 and deviation 1 over the training examples.
class SeriesRegressor : public Module {
 public:
  explicit SeriesRegressor(const SeriesRegressorSpec& spec);
  /// Sets the units of channels and numbers from training examples.
  void fit(const std::vector<SeriesValues>& series, const std::vector<double>& numbers);
  SeriesModel& series() { return model_; }
  const SeriesRegressorSpec& spec() const { return spec_; }
  /// Returns the mean loss in the unit of training. outputs of SeriesModel (B, outputs), numbers
  /// (B) -> ()
  Var loss(const Var& outputs, const std::vector<double>& numbers) const;
  /// Sets how far quantiles are from answers by the errors of answers to held-out examples, which
  /// split conformal prediction ranks (Vovk, Gammerman, Shafer, "Algorithmic learning in a random
  /// world", 2005): an interval of probability p reaches the absolute error of rank (n + 1) p, over
  /// the deviation for loss "gaussian"; a quantile of the loss moves by the error of that rank.
  void fit_errors(const Tensor& outputs, const std::vector<double>& numbers);
  /// Returns the number of examples of fit_errors(), 0 before it, and how many the outer quantiles
  /// need.
  std::size_t held_out() const;
  std::size_t fewest_held_out() const;
  /// Returns the answers. Quantiles are those of fit_errors(); before it, those that the loss
  /// "gaussian" or "quantile" has learned. (B, outputs)
  NumberAnswers answers(const Tensor& outputs) const;
  void visit(Visitor& visitor) override;

 private:
  /// Returns the base of a quantile and the unit of its offset, in units of training.
  struct Located {
    double base, unit;
  };
  Located located(const real* outputs, std::size_t level) const;
  double expected(const real* outputs) const;

  SeriesRegressorSpec spec_;
  std::vector<double> levels_;
  Standardize number_;
  SeriesModel model_;
  std::unique_ptr<ValueLoss> loss_;  // null for quantiles, and with a deviation
  Tensor offsets_;  // (levels) of quantiles, and (1) the held-out examples; 0: unknown
};

}  // namespace bochner::inline BOCHNER_PRECISION
