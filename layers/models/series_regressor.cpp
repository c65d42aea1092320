#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/base/numeric/conformal.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/models/series_regressor.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr double least_deviation = 1e-3;  // of training numbers
constexpr real learned = -1;              // in place of the number of held-out examples

SeriesModelSpec with_outputs(SeriesModelSpec spec, const SeriesRegressorSpec& of) {
  spec.outputs = of.predicts_quantiles() ? of.quantiles.size() : of.predicts_deviation() ? 2 : 1;
  return spec;
}

double softplus_of(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }

/// Returns the conformal quantile of errors, away from the median; at most the last one.
double error_at(std::vector<double> errors, double level) {
  const double side = level < 0.5 ? -1 : 1;
  for (double& error : errors) error *= side;
  const double last = std::ranges::max(errors);
  return side * std::min(last, conformal_quantile(std::move(errors), std::max(level, 1 - level)));
}

}  // namespace

std::vector<double> SeriesRegressorSpec::levels() const {
  return predicts_quantiles() ? quantiles : std::vector<double>{0.025, 0.1, 0.9, 0.975};
}

SeriesRegressor::SeriesRegressor(const SeriesRegressorSpec& spec)
    : spec_(checked("series_regressor", spec)),
      levels_(spec.levels()),
      number_(1),
      model_(with_outputs(spec, spec)),
      offsets_(zeros({levels_.size() + 1})) {
  const bool is_gaussian = spec.predicts_deviation();
  if (!is_gaussian && !spec.predicts_quantiles()) loss_ = make_value_loss(spec.loss);
  offsets_(levels_.size()) = loss_ ? 0 : learned;
  for (std::size_t p = 0; is_gaussian && p < levels_.size(); ++p)
    offsets_(p) = real(quantile::normal(levels_[p]));
}

void SeriesRegressor::fit(const std::vector<SeriesValues>& series,
                          const std::vector<double>& numbers) {
  model_.fit(series);
  const double n = double(numbers.size()),
               mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / n;
  double squares = 0;
  for (const double y : numbers) squares += (y - mean) * (y - mean);
  number_.set({mean}, {std::sqrt(squares / n)});
}

Var SeriesRegressor::loss(const Var& outputs, const std::vector<double>& numbers) const {
  const std::size_t B = numbers.size();
  const double mean = number_.means()[0], deviation = number_.deviations()[0];
  Tensor targets = uninitialized({B});
  for (std::size_t i = 0; i < B; ++i) targets(i) = real((numbers[i] - mean) / deviation);
  if (spec_.predicts_quantiles())
    return pinball(ascending(outputs, median_index(levels_)), targets, levels_);
  const Var answer = reshape(slice(outputs, -1, 0, 1), {B});
  if (loss_) return mean_loss(*loss_, answer, targets);
  const Var spread = softplus(reshape(slice(outputs, -1, 1, 2), {B})) + least_deviation;
  const Var error = (Var(std::move(targets)) - answer) / spread;
  return bochner::mean(square(error) * 0.5 + log(spread)) + 0.5 * std::log(2 * std::numbers::pi);
}

double SeriesRegressor::expected(const real* outputs) const {
  if (!spec_.predicts_quantiles()) return double(outputs[0]);
  const std::size_t middle = median_index(levels_);
  return double(outputs[middle]) + double(offsets_(middle));
}

SeriesRegressor::Located SeriesRegressor::located(const real* outputs, std::size_t level) const {
  if (spec_.predicts_deviation())
    return {double(outputs[0]), softplus_of(double(outputs[1])) + least_deviation};
  if (!spec_.predicts_quantiles()) return {double(outputs[0]), 1};
  const std::size_t middle = median_index(levels_);
  double base = double(outputs[middle]);
  for (std::size_t q = middle; q < level; ++q) base += softplus_of(double(outputs[q + 1]));
  for (std::size_t q = middle; q > level; --q) base -= softplus_of(double(outputs[q - 1]));
  return {base, 1};
}

void SeriesRegressor::fit_errors(const Tensor& outputs, const std::vector<double>& numbers) {
  const double mean = number_.means()[0], deviation = number_.deviations()[0];
  const std::size_t n = numbers.size(), K = outputs.shape()[1];
  if (n == 0) return;
  for (std::size_t p = 0; p < levels_.size(); ++p) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < n; ++i) {
      const Located at = located(outputs.data() + i * K, p);
      errors.push_back(((numbers[i] - mean) / deviation - at.base) / at.unit);
    }
    if (!spec_.predicts_quantiles())
      for (double& error : errors) error = std::abs(error);
    const double side = levels_[p] < 0.5 ? -1 : 1;
    offsets_(p) = real(spec_.predicts_quantiles()
                           ? error_at(std::move(errors), levels_[p])
                           : side * error_at(std::move(errors), std::abs(2 * levels_[p] - 1)));
  }
  offsets_(levels_.size()) = real(n);
}

std::size_t SeriesRegressor::held_out() const {
  return std::size_t(std::max(real(0), offsets_(levels_.size())));
}

std::size_t SeriesRegressor::fewest_held_out() const {
  constexpr double rounding = 1e-9;
  const double sides = spec_.predicts_quantiles() ? 1 : 2,
               tail = sides * std::min(levels_.front(), 1 - levels_.back());
  return std::size_t(std::ceil(1 / tail - 1 - rounding));
}

NumberAnswers SeriesRegressor::answers(const Tensor& outputs) const {
  const double mean = number_.means()[0], deviation = number_.deviations()[0];
  const std::size_t n = outputs.shape()[0], K = outputs.shape()[1], P = levels_.size();
  NumberAnswers all;
  for (std::size_t i = 0; i < n; ++i) {
    const real* row = outputs.data() + i * K;
    all.expected.push_back(mean + deviation * expected(row));
    if (offsets_(P) == 0) continue;
    for (std::size_t p = 0; p < P; ++p) {
      const Located at = located(row, p);
      all.quantiles.push_back(mean + deviation * (at.base + at.unit * double(offsets_(p))));
    }
    std::sort(all.quantiles.end() - std::ptrdiff_t(P), all.quantiles.end());
  }
  return all;
}

void SeriesRegressor::visit(Visitor& visitor) {
  visitor("number", number_);
  visitor("offsets", offsets_);
  model_.visit(visitor);
}

}  // namespace bochner::inline BOCHNER_PRECISION
