#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/layers/recurrences/eigenvalues.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Log decay rates per token: the slowest lasts a million tokens and is still below 1 in float.
const double log_min_rate = std::log(1e-6), log_max_rate = std::log(50.0);

Tensor tensor_of(const std::vector<double>& values, const Shape& shape,
                 const std::function<double(double)>& f) {
  Tensor y = uninitialized(shape);
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = real(f(values[i]));
  return y;
}

}  // namespace

Eigenvalues hippo_eigenvalues(std::size_t n) {
  const std::size_t size = 2 * n, twice = 2 * size;
  // The normal part is -1/2 plus an antisymmetric K; [0, -K; K, 0] has each eigenvalue of iK twice.
  std::vector<double> matrix(twice * twice);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double k = 0.5 * std::sqrt((2 * double(i) + 1) * (2 * double(j) + 1));
      matrix[i * twice + size + j] = k, matrix[j * twice + size + i] = -k;
      matrix[(size + j) * twice + i] = k, matrix[(size + i) * twice + j] = -k;
    }
  }
  const SymmetricEigen eigen = symmetric_eigen(matrix, twice);
  Eigenvalues found{std::vector<double>(n, -0.5), {}};
  for (std::size_t i = 0; i < n; ++i) found.im.push_back(eigen.values[size + 2 * i]);
  return found;
}

Eigenvalues initial_eigenvalues(const std::string& start, std::size_t n) {
  if (start == "legs") return hippo_eigenvalues(n);
  Eigenvalues values{std::vector<double>(n, -0.5), {}};
  const double size = 2 * double(n);
  for (std::size_t i = 0; i < n; ++i) {
    values.im.push_back(start == "lin"
                            ? std::numbers::pi * double(i)
                            : size / std::numbers::pi * (size / (2 * double(i) + 1) - 1));
  }
  return values;
}

ComplexPair Steps::zoh_gain() const { return split_parts(zero_order_hold(concat_parts(z))) * step; }

Steps steps_of(const Var& log_rate, const Var& frequency, const Var& log_step) {
  const Var bounded = clamp(log_step, -30, 15), step = exp(bounded);
  const Var rate = exp(clamp(log_rate + bounded, real(log_min_rate), real(log_max_rate)));
  return {{-rate, frequency * step}, step};
}

ContinuousEigenvalues::ContinuousEigenvalues(const SsmSpec& spec, const Eigenvalues& eigenvalues,
                                             const Shape& shape)
    : bilinear_(spec.discretisation == "bilinear"),
      log_step_min_(std::log(spec.step_min)),
      log_step_max_(std::log(spec.step_max)),
      log_rate_(tensor_of(eigenvalues.re, shape, [](double re) { return std::log(-re); })),
      frequencies_(tensor_of(eigenvalues.im, shape, [](double im) { return im; })),
      log_step_({shape.back()}, Initial::uniform(1)) {
  require(spec.step_min <= spec.step_max, "ssm", "step_min = ", spec.step_min,
          " must be at most step_max = ", spec.step_max);
}

Discrete ContinuousEigenvalues::discrete(Tape& tape, const Var& gap) {
  Steps steps = steps_of(tape(log_rate_), tape(frequencies_), tape(log_step_));
  if (gap.exists()) {
    const Var above_zero = clamp(gap, real(1e-6), real(1e6));  // times may coincide
    steps = {steps.z * above_zero, steps.step * above_zero};
    // For short gaps, rounded sines and cosines would grow by more than the decay.
    steps.z.re = clamp(steps.z.re, std::numeric_limits<real>::lowest(), real(-1.2e-7));
  }
  if (bilinear_) {
    const Var half = Var(filled({}, real(0.5)));
    const ComplexPair below = steps.z * -half + 1, one = {Var(filled({}, real(1))), Var(zeros({}))};
    // High frequencies approach the unit circle, and would lie on it in float.
    return {(steps.z * half + 1) / below * Var(filled({}, real(1 - 1e-6))),
            one * steps.step / below};
  }
  return {exponential(steps.z), steps.zoh_gain()};
}

RingEigenvalues::RingEigenvalues(const SsmSpec& spec, std::size_t states)
    : radius_min_(spec.radius_min),
      radius_max_(spec.radius_max),
      phase_(spec.phase),
      log_rate_({states}, Initial::uniform(1)),
      log_phase_({states}, Initial::uniform(1)),
      log_gain_({states}) {
  require(radius_min_ <= radius_max_, "ssm", "radius_min = ", radius_min_,
          " must be at most radius_max = ", radius_max_);
}

void RingEigenvalues::initialized() {
  const double low = radius_min_ * radius_min_, high = radius_max_ * radius_max_;
  for (std::size_t i = 0; i < log_rate_.value().size(); ++i) {
    real &rate = log_rate_.value().data()[i], &angle = log_phase_.value().data()[i];
    const double square = low + (high - low) * (double(rate) + 1) / 2;
    const double log_rate =
        std::clamp(std::log(-0.5 * std::log(square)), log_min_rate, log_max_rate);
    rate = real(log_rate);
    angle = real(std::log(phase_ * (double(angle) + 1) / 2));
    log_gain_.value().data()[i] = real(0.5 * std::log(-std::expm1(-2 * std::exp(log_rate))));
  }
}

Discrete RingEigenvalues::discrete(Tape& tape, const Var&) {
  const Var rate = exp(clamp(tape(log_rate_), real(log_min_rate), real(log_max_rate)));
  const ComplexPair decay = exponential({-rate, exp(clamp(tape(log_phase_), -30, 10))});
  const Var gain = exp(tape(log_gain_));
  return {decay, {gain, Var(zeros(gain.shape()))}};
}

}  // namespace bochner::inline BOCHNER_PRECISION
