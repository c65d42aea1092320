#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/encodings/time_encodings.hpp>
#include <bochner/layers/encodings/time_periods.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

DensitySpec density_of(const TimeEncodingSpec& spec) {
  DensitySpec density = spec.density;
  density.kind = spec.kind;
  density.heads = density.dim = 1;
  density.m = spec.m;
  return density;
}

}  // namespace

BochnerTime::BochnerTime(const TimeEncodingSpec& spec)
    : m_(spec.m), density_(make_density(density_of(spec))) {}

Var BochnerTime::forward(Tape& tape, const Times& times) {
  return fourier_time(times, reshape(density_->draws(tape), {m_}));
}

std::function<double(double)> BochnerTime::kernel() {
  const PointFunction kernel = density_->kernel(0);
  if (!kernel) return {};
  return [kernel](double lag) { return kernel(&lag); };
}

void BochnerTime::visit(Visitor& visitor) { visitor("density", *density_); }

FreeTime::FreeTime(const TimeEncodingSpec& spec) : log_frequency_(log_frequencies(spec)) {}

Var FreeTime::forward(Tape& tape, const Times& times) {
  return fourier_time(times, exp(tape(log_frequency_)));
}

std::function<double(double)> FreeTime::kernel() {
  const Tensor& log_w = log_frequency_.value();
  return [log_w = std::vector<double>(log_w.begin(), log_w.end())](double lag) {
    double sum = 0;
    for (const double log_frequency : log_w) sum += std::cos(std::exp(log_frequency) * lag);
    return sum / double(log_w.size());
  };
}

Var SinusoidalTime::forward(Tape& tape, const Times& times) {
  return fourier_time(times, exp(tape.view(log_frequency_.value())));
}

}  // namespace bochner::inline BOCHNER_PRECISION
