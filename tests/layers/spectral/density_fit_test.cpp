#include <bochner/autodiff/ops.hpp>
#include <bochner/optim/optimizer.hpp>

#include "layers/spectral/density_check.hpp"

/// Densities learn a given kernel through their draws.
namespace bochner::inline BOCHNER_PRECISION {
namespace density_fit_test {

using namespace density_check;

using Kernel = double (*)(double distance);

/// Returns lags of length up to `reach` along directions from `stream`. (1, n, d)
Tensor lags_within(double reach, std::size_t n, std::size_t d, std::uint64_t stream) {
  Tensor lag = random_tensor({1, n, d}, stream);
  for (std::size_t i = 0; i < n; ++i) {
    double square = 0;
    for (std::size_t j = 0; j < d; ++j) square += std::pow(double(lag(0, i, j)), 2);
    const double length = reach * (double(i) + 0.5) / double(n);
    for (std::size_t j = 0; j < d; ++j) lag(0, i, j) *= real(length / std::sqrt(square));
  }
  return lag;
}

/// Returns k(lag) as the mean cosine of the draws. (1, n, d) -> (1, n)
Var kernel_of_draws(SpectralDensity& density, Tape& tape, const Tensor& lag) {
  return mean(cos(matmul_nt(tape.constant(lag), density.draws(tape))), {-1});
}

Tensor target_at(Kernel target, const Tensor& lag) {
  const std::size_t n = lag.shape()[1], d = lag.shape()[2];
  Tensor k = uninitialized({1, n});
  for (std::size_t i = 0; i < n; ++i) {
    double square = 0;
    for (std::size_t j = 0; j < d; ++j) square += std::pow(double(lag(0, i, j)), 2);
    k(0, i) = real(target(std::sqrt(square)));
  }
  return k;
}

/// Returns |k - target| / |target| over lags that were not fitted.
double relative_error(SpectralDensity& density, Kernel target, double reach, std::size_t d) {
  const Tensor lag = lags_within(reach, 101, d, 72), wanted = target_at(target, lag);
  Tape tape({.recording = false});
  const Tensor k = kernel_of_draws(density, tape, lag).value();
  double error = 0, size = 0;
  for (std::size_t i = 0; i < k.size(); ++i) {
    error += std::pow(double(k.data()[i]) - double(wanted.data()[i]), 2);
    size += std::pow(double(wanted.data()[i]), 2);
  }
  return std::sqrt(error / size);
}

struct Fit {
  double before, after;
};

Fit fit(DensitySpec spec, Kernel target, double reach) {
  spec.draws = "sobol_owen", spec.heads = 1, spec.log_scale = 0;
  const auto density = make_density(spec);
  initialize(*density, 1);
  const double before = relative_error(*density, target, reach, spec.dim);
  const auto adam =
      make_optimizer({.kind = "adam", .beta2 = 0.999, .weight_decay = 0}, parameters_of(*density));
  const Tensor lag = lags_within(reach, 64, spec.dim, 71), wanted = target_at(target, lag);
  constexpr std::size_t steps = 600;
  for (std::size_t step = 0; step < steps; ++step) {
    Tape tape;
    adam->zero_gradients();
    tape.backward(mean_squared_error(kernel_of_draws(*density, tape, lag), wanted));
    adam->step(0.05 * (1 - double(step) / steps));
  }
  return {before, relative_error(*density, target, reach, spec.dim)};
}

void expect_learned(const DensitySpec& spec, Kernel target, double reach) {
  const Fit result = fit(spec, target, reach);
  EXPECT_GT(result.before, 0.05) << spec.kind;
  EXPECT_LT(result.after, 0.01) << spec.kind;
}

double rational_quadratic(double r) { return 1 / (1 + r * r / 2); }
double two_notes(double r) { return std::exp(-r * r / 8) * (std::cos(r) + std::cos(3 * r)) / 2; }
double exponential_radius(double r) { return std::atan(r) / r; }  // E sin(r t) / (r t), t ~ Exp(1)

TEST(LearnedDensity, FlowLearnsAnySpectrumOfOneCoordinate) {
  expect_learned({.kind = "flow", .m = 512, .dim = 1, .knots = 16}, rational_quadratic, 4);
  expect_learned({.kind = "flow", .m = 512, .dim = 1, .knots = 16}, two_notes, 4);
}

TEST(LearnedDensity, MixtureLearnsTheRationalQuadraticKernel) {
  expect_learned({.kind = "mixture", .m = 512, .dim = 1, .components = 6}, rational_quadratic, 4);
}

TEST(LearnedDensity, RadialLearnsAnotherRadius) {
  expect_learned({.kind = "radial", .m = 2048, .dim = 3}, exponential_radius, 4);
}

}  // namespace density_fit_test
}  // namespace bochner::inline BOCHNER_PRECISION
