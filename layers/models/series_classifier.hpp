#pragma once
#include <bochner/layers/basic/ridge_head.hpp>
#include <bochner/layers/convolutions/filter_bank.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct SeriesClassifierSpec : FilterBankSpec {
  std::size_t classes = 2;
};
inline void describe(Keys& keys, SeriesClassifierSpec& spec) {
  describe(keys, static_cast<FilterBankSpec&>(spec));
}

/// Classifies series by a ridge regression of the features of a filter bank, fitted at once.
class SeriesClassifier : public Module {
 public:
  explicit SeriesClassifier(const SeriesClassifierSpec& spec);
  /// Fits to series with labels.
  void fit(const std::vector<SeriesValues>& series, const std::vector<std::int32_t>& labels);
  /// Returns logits. (n, classes)
  Tensor logits(const std::vector<SeriesValues>& series);
  /// Returns how many series of each class the head gives each class when it is fitted without
  /// them. (classes, classes)
  const Tensor& left_out() const { return left_out_; }
  FilterBank& bank() { return bank_; }
  void visit(Visitor& visitor) override;

 private:
  FilterBank bank_;
  RidgeHead head_;
  Tensor left_out_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
