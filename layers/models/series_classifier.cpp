#include <algorithm>
#include <bochner/layers/models/series_classifier.hpp>

namespace bochner::inline BOCHNER_PRECISION {

SeriesClassifier::SeriesClassifier(const SeriesClassifierSpec& spec)
    : bank_(spec),
      head_(bank_.size(), spec.classes),
      left_out_(filled({spec.classes, spec.classes}, 0)) {}

void SeriesClassifier::fit(const std::vector<SeriesValues>& series,
                           const std::vector<std::int32_t>& labels) {
  bank_.fit(series);
  const Tensor logits = head_.fit(bank_.features(series), labels);
  const std::size_t K = left_out_.shape()[0];
  left_out_.fill(0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const real* row = logits.data() + i * K;
    left_out_(std::size_t(labels[i]), std::size_t(std::max_element(row, row + K) - row)) += 1;
  }
}

Tensor SeriesClassifier::logits(const std::vector<SeriesValues>& series) {
  return head_.logits(bank_.features(series));
}

void SeriesClassifier::visit(Visitor& visitor) {
  visitor("bank", bank_);
  visitor("head", head_);
  visitor("left_out", left_out_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
