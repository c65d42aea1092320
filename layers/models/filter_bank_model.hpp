#pragma once
#include <bochner/layers/basic/ridge_head.hpp>
#include <bochner/layers/convolutions/filter_bank.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct FilterBankModelSpec : FilterBankSpec {
  std::size_t classes = 2;  ///< 0: predicts a number
};
inline void describe(Keys& keys, FilterBankModelSpec& spec) {
  describe(keys, static_cast<FilterBankSpec&>(spec));
}

/// Predicts the class or the number of a series by a ridge regression of the features of a filter
/// bank. The head is fitted at once. Training changes the filters by gradients of the leave-one-out
/// loss of a head on soft features, fitted to each batch; fit_head() then fits the head to the
/// features of the new filters.
class FilterBankModel : public Module {
 public:
  explicit FilterBankModel(const FilterBankModelSpec& spec);
  /// Fits the bank's units and quantiles, and the head, to series with labels or numbers.
  template <class Labels>
  void fit(const std::vector<SeriesValues>& series, const Labels& labels) {
    bank_.fit(series);
    fit_head(series, labels);
  }
  /// Fits the head, and returns its leave-one-out logits. (n, classes)
  Tensor fit_head(const std::vector<SeriesValues>& series, const std::vector<std::int32_t>& labels);
  /// Fits the head, and returns its leave-one-out predictions. (n)
  std::vector<double> fit_head(const std::vector<SeriesValues>& series,
                               const std::vector<double>& numbers);
  /// Returns logits, or the numbers predicted. (n, outputs)
  Tensor outputs(const std::vector<SeriesValues>& series);
  /// Returns the mean leave-one-out cross entropy of at least two series. ()
  Var loss(Tape& tape, const std::vector<SeriesValues>& series, const Indices& labels);
  /// Returns the mean squared leave-one-out error, in variances of the training numbers. ()
  Var loss(Tape& tape, const std::vector<SeriesValues>& series, const std::vector<double>& numbers);

  /// Returns how many series of each class the head gives each class when it is fitted without
  /// them. (classes, classes)
  const Tensor& left_out() const { return left_out_; }
  /// Numbers of the training series, and the root mean square of the leave-one-out errors.
  struct Numbers {
    double count, mean, deviation, error;
  };
  Numbers numbers() const;
  FilterBank& bank() { return bank_; }
  const RidgeHead& head() const { return head_; }
  void visit(Visitor& visitor) override;

 private:
  /// Returns the leave-one-out predictions of targets (n, K) by a head on soft features. (n, K)
  Var soft_predictions(Tape& tape, const std::vector<SeriesValues>& series, const Tensor& targets);

  FilterBank bank_;
  RidgeHead head_;
  Tensor left_out_;  // (classes, classes), or Numbers
  Parameter log_penalty_, log_factor_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
