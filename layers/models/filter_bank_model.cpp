#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/autodiff/ops/ridge_left_out.hpp>
#include <bochner/layers/models/filter_bank_model.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

FilterBankModel::FilterBankModel(const FilterBankModelSpec& spec)
    : bank_(spec),
      head_(bank_.size(), std::max<std::size_t>(1, spec.classes)),
      left_out_(spec.classes > 0 ? filled({spec.classes, spec.classes}, 0) : filled({4}, 0)),
      log_penalty_(zeros({})),
      log_factor_(filled({}, real(std::log(4.0)))) {}

Tensor FilterBankModel::fit_head(const std::vector<SeriesValues>& series,
                                 const std::vector<std::int32_t>& labels) {
  Tensor logits = head_.fit(bank_.features(series), labels);
  const std::size_t K = left_out_.shape()[0];
  left_out_.fill(0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const real* row = logits.data() + i * K;
    left_out_(std::size_t(labels[i]), std::size_t(std::max_element(row, row + K) - row)) += 1;
  }
  return logits;
}

std::vector<double> FilterBankModel::fit_head(const std::vector<SeriesValues>& series,
                                              const std::vector<double>& numbers) {
  std::vector<double> predictions = head_.fit(bank_.features(series), numbers);
  const double n = double(numbers.size());
  double mean = 0, squares = 0, errors = 0;
  for (const double y : numbers) mean += y / n;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    squares += (numbers[i] - mean) * (numbers[i] - mean) / n;
    errors += (numbers[i] - predictions[i]) * (numbers[i] - predictions[i]) / n;
  }
  left_out_(0) = real(n);
  left_out_(1) = real(mean);
  left_out_(2) = real(std::sqrt(squares));
  left_out_(3) = real(std::sqrt(errors));
  return predictions;
}

FilterBankModel::Numbers FilterBankModel::numbers() const {
  return {double(left_out_(0)), double(left_out_(1)), double(left_out_(2)), double(left_out_(3))};
}

Tensor FilterBankModel::outputs(const std::vector<SeriesValues>& series) {
  return head_.outputs(bank_.features(series));
}

Var FilterBankModel::soft_predictions(Tape& tape, const std::vector<SeriesValues>& series,
                                      const Tensor& targets) {
  constexpr double least = 1e-6;
  const Var features = bank_.soft_features(tape, series),
            centred = features - mean(features, 0, keep),
            standard = centred / sqrt(mean(square(centred), 0, keep) + least),
            penalty = tape(log_penalty_) + std::log(double(bank_.size()));
  return ridge_left_out(standard * exp(penalty * -0.5), targets);
}

Var FilterBankModel::loss(Tape& tape, const std::vector<SeriesValues>& series,
                          const Indices& labels) {
  Tensor targets = filled({series.size(), left_out_.shape()[0]}, -1);
  for (std::size_t i = 0; i < series.size(); ++i) targets(i, std::size_t(labels.values[i])) = 1;
  return cross_entropy(soft_predictions(tape, series, targets) * exp(tape(log_factor_)), labels);
}

Var FilterBankModel::loss(Tape& tape, const std::vector<SeriesValues>& series,
                          const std::vector<double>& numbers) {
  const auto [count, mean, deviation, error] = this->numbers();
  Tensor targets = uninitialized({series.size(), 1});
  for (std::size_t i = 0; i < series.size(); ++i)
    targets(i, 0) = real((numbers[i] - mean) / (deviation > 0 ? deviation : 1));
  return mean_squared_error(soft_predictions(tape, series, targets), targets);
}

void FilterBankModel::visit(Visitor& visitor) {
  visitor("bank", bank_);
  visitor("head", head_);
  visitor("left_out", left_out_);
  visitor("log_penalty", log_penalty_);
  visitor("log_factor", log_factor_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
