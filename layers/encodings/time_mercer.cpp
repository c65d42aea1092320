#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/encodings/time_encodings.hpp>
#include <bochner/layers/encodings/time_periods.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Shape with_features(const Times& times, std::size_t features) {
  Shape shape(times.shape().begin(), times.shape().end());
  shape.push_back(features);
  return shape;
}

/// Equal coefficients of sum 1: |Phi| = 1 at the start.
Tensor equal_coefficients(const TimeEncodingSpec& spec) {
  const std::size_t terms = 1 + (spec.paired ? 1 : 2) * spec.degree;
  return filled({spec.m, terms}, real(-std::log(double(spec.m * (1 + spec.degree)))));
}

}  // namespace

MercerTime::MercerTime(const TimeEncodingSpec& spec)
    : degree_(spec.degree),
      log_frequency_(log_frequencies(spec)),
      log_coefficient_(equal_coefficients(spec)) {}

std::size_t MercerTime::features() const {
  return log_frequency_.value().size() * (1 + 2 * degree_);
}

Var MercerTime::forward(Tape& tape, const Times& times) {
  Var amplitude = exp(tape(log_coefficient_) * 0.5);
  if (amplitude.dim(1) == 1 + degree_)
    amplitude = concat({amplitude, slice(amplitude, 1, 1, 1 + degree_)}, 1);
  const Var terms = fourier_series(times, exp(tape(log_frequency_)), amplitude);
  return reshape(terms, with_features(times, features()));
}

std::function<double(double)> MercerTime::kernel() {
  const Tensor &log_w = log_frequency_.value(), &log_c = log_coefficient_.value();
  const std::size_t terms = log_c.shape()[1];
  if (terms != 1 + degree_) return {};
  return [terms, w = std::vector<double>(log_w.begin(), log_w.end()),
          c = std::vector<double>(log_c.begin(), log_c.end())](double lag) {
    double sum = 0;
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t j = 0; j < terms; ++j)
        sum += std::exp(c[i * terms + j]) * std::cos(double(j) * std::exp(w[i]) * lag);
    return sum;
  };
}

void MercerTime::visit(Visitor& visitor) {
  visitor("log_frequency", log_frequency_);
  visitor("log_coefficient", log_coefficient_);
}

SummedMercerTime::SummedMercerTime(const TimeEncodingSpec& spec)
    : log_frequency_(log_frequencies(spec)),
      coefficient_({spec.m, 1 + 2 * spec.degree},
                   Initial::uniform(std::sqrt(6 / double(spec.m + 2 * spec.degree)))) {}

Var SummedMercerTime::forward(Tape& tape, const Times& times) {
  return sum(fourier_series(times, exp(tape(log_frequency_)), tape(coefficient_)), -1);
}

void SummedMercerTime::visit(Visitor& visitor) {
  visitor("log_frequency", log_frequency_);
  visitor("coefficient", coefficient_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
