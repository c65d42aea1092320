#include <gtest/gtest.h>

#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/features.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace time_kernel_test {

using namespace layer_check;

constexpr double tolerance = is_double ? 1e-12 : 2e-5;

TEST(TimeKernel, StartsWithGeometricTimes) {
  Tape tape;
  const Var x = random_tensor({1, 3, 8}, 1);
  for (const char* kind : {"decay", "rotation", "spectral", "gate"}) {
    TimeKernel kernel({kind, 4, 256}, 4, 8);
    const Tensor rate = kernel.rate(tape, x).value();
    for (std::size_t h = 0; h < 4; ++h)
      EXPECT_NEAR(1 / double(rate.data()[h]), 4 * std::pow(4.0, double(h)), 1e-3) << kind;
  }
  EXPECT_FALSE(TimeKernel({"none", 4, 256}, 4, 8).rate(tape, x).exists());
  EXPECT_EQ(op_check::error_of([] {
              TimeKernel({"alibi", 4, 256}, 4, 8);
            }),
            "[time_kernel] kind = \"alibi\"; there are: none, decay, rotation, spectral, gate");
  EXPECT_EQ(op_check::error_of([] {
              TimeKernel({"decay", 0, 256}, 4, 8);
            }),
            "[time_kernel] shortest = 0: must be greater than 0");
}

TEST(TimeKernel, CountsIrregularGaps) {
  TimeKernel kernel({"decay", 2, 8}, 2, 4);
  Tape tape;
  const Var rate = kernel.rate(tape, zeros({1, 2, 4}), {.gaps = Tensor{{1, 3}}});
  EXPECT_EQ(rate.shape(), (Shape{1, 2, 2}));
  const double expected[] = {1 / 2., 1 / 8., 3 / 2., 3 / 8.};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(double(rate.data()[i]), expected[i], 1e-6);
}

/// Returns 1 + sum of a cos(nu lag) for the pairs of rotation().
double factor_of(const Tensor& rotation, std::size_t head, double lag) {
  double sum = 1;
  for (std::size_t i = 0; i < rotation.shape()[1]; ++i)
    sum += double(rotation(head, i, 1)) * std::cos(double(rotation(head, i, 0)) * lag);
  return sum;
}

/// Returns specs with frequencies, free or drawn from any density.
std::vector<TimeKernelSpec> turning_specs() {
  std::vector<TimeKernelSpec> specs{{"rotation", 3, 20}};
  for (const std::string& density : densities().names()) {
    specs.push_back({"spectral", 3, 20, 5});
    specs.back().density.kind = density;
  }
  specs.push_back({"spectral", 3, 20, 2, 3});
  return specs;
}

std::string name_of(const TimeKernelSpec& spec) {
  return spec.kind + ", " + spec.density.kind + ", harmonics " + std::to_string(spec.harmonics);
}
std::size_t frequencies_of(const TimeKernelSpec& spec) {
  return spec.kind == "rotation" ? 1 : spec.frequencies;
}

void expect_function_of_the_lag(const TimeKernelSpec& spec) {
  TimeKernel kernel(spec, 2, 4);
  randomize(kernel, 0.4);
  Tape tape;
  const Tensor rotation = kernel.rotation(tape).value();
  const Tensor gaps{{0.5, 2.25, 1, 0.125, 7}};
  const Times times = times_of({.gaps = gaps}, 5, 0);
  const std::size_t n = frequencies_of(spec), N = spec.harmonics;
  ASSERT_EQ(rotation.shape(), (Shape{2, n * N, 2}));
  for (const FeatureScale scale : {FeatureScale::linear, FeatureScale::logarithmic}) {
    const bool logarithmic = scale == FeatureScale::logarithmic;
    const Tensor phi = random_tensor({1, 5, 2, 3}, 2);
    const Tensor with_turns =
        modulated(Features(Var(phi), scale), kernel.modulation(tape, {.gaps = gaps}, 5, 0))
            .values()
            .value();
    ASSERT_EQ(with_turns.shape(), (Shape{1, 5, 2, 3 * n * (2 * N + 1)}));
    const auto product = [&](const Tensor& features, std::size_t i, std::size_t j, std::size_t h) {
      const std::size_t F = features.shape()[3];
      double sum = 0;
      for (std::size_t f = 0; f < F; ++f) {
        const double a = double(features(0, i, h, f)), b = double(features(0, j, h, f));
        sum += logarithmic ? std::exp(a + b) : a * b;
      }
      return sum;
    };
    for (std::size_t h = 0; h < 2; ++h)
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
          const double lag = times(0, i) - times(0, j);
          const double factor = factor_of(rotation, h, lag);
          EXPECT_GT(factor, N == 1 ? 0.5 : 0);
          EXPECT_NEAR(product(with_turns, i, j, h), product(phi, i, j, h) * factor, 20 * tolerance);
        }
  }
}

TEST(TimeKernel, TurnsMultiplyTheKernelByAFunctionOfTheLag) {
  for (const TimeKernelSpec& spec : turning_specs()) {
    SCOPED_TRACE(name_of(spec));
    expect_function_of_the_lag(spec);
  }
}

TEST(TimeKernel, TurnsArePositiveAndDifferentiable) {
  for (const TimeKernelSpec& spec : turning_specs()) {
    SCOPED_TRACE(name_of(spec));
    TimeKernel kernel(spec, 2, 4);
    randomize(kernel, 0.4);
    Tape tape;
    const Tensor modulation = kernel.modulation(tape, {}, 50, 0).value();
    for (const real feature : modulation) ASSERT_GT(feature, 0);
    check_layer(kernel, random_tensor({1, 6, 4}, 1), [&](Tape& tape, const Var& x) {
      const Var phi = reshape(x, {1, 6, 2, 2});
      return modulated(Features(phi), kernel.modulation(tape, {}, 6, 2)).values() *
             reshape(kernel.rate(tape, x), {1, 1, 2, 1});
    });
  }
}

/// Returns exp(-lag / tau) times the factor of the lag, 0 for future tokens. (T, T)
std::vector<double> closed_weights(TimeKernel& kernel, std::size_t head, const Times& times) {
  Tape tape;
  const std::size_t T = times.shape()[1];
  const double rate = double(kernel.rate(tape, zeros({1, T, 4})).value()(head));
  const Tensor rotation = kernel.rotation(tape).value();
  std::vector<double> weights(T * T);
  for (std::size_t i = 0; i < T; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double lag = times(0, i) - times(0, j);
      weights[i * T + j] = std::exp(-rate * lag) * factor_of(rotation, head, lag);
    }
  return weights;
}

/// Computes one head of phi(q) . phi(k) times `weights` on values (1, T, H, 2) over all pairs. ->
/// (T, 2)
std::vector<double> quadratic_form(const Tensor& q, const Tensor& k, const Tensor& v,
                                   std::size_t head, const std::vector<double>& weights) {
  const std::size_t T = q.shape()[1];
  std::vector<double> y(2 * T);
  for (std::size_t i = 0; i < T; ++i) {
    double total = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      double weight = 0;
      for (std::size_t f = 0; f < q.shape()[3]; ++f)
        weight += double(q(0, i, head, f)) * double(k(0, j, head, f)) * weights[i * T + j];
      total += weight;
      for (std::size_t e = 0; e < 2; ++e) y[2 * i + e] += weight * double(v(0, j, head, e));
    }
    for (std::size_t e = 0; e < 2; ++e) y[2 * i + e] /= total;
  }
  return y;
}

/// Regular positions and irregular times.
TEST(TimeKernel, EqualsTheQuadraticFormWithTheKernelOfTheLag) {
  const std::size_t T = 37, H = 2;
  const Tensor q = xt::abs(random_tensor({1, T, H, 3}, 1)),
               k = xt::abs(random_tensor(q.shape(), 2));
  const Tensor v = random_tensor({1, T, H, 2}, 3), gaps = xt::abs(random_tensor({1, T}, 4));
  for (const TimeKernelSpec& spec : turning_specs()) {
    TimeKernel kernel(spec, H, 4);
    randomize(kernel, 0.4);
    for (const Layout& layout : {Layout{}, Layout{.gaps = gaps}})
      for (const std::size_t chunk : {1, 8, 64}) {
        SCOPED_TRACE(name_of(spec) + ", chunk " + std::to_string(chunk));
        Tape tape;
        const Var modulation = kernel.modulation(tape, layout, T, 0);
        const Var rate = kernel.rate(tape, zeros({1, T, 4}), layout);
        const Tensor y = linear_attention(modulated(Var(q), modulation),
                                          modulated(Var(k), modulation), v, rate, {true, chunk})
                             .value();
        for (std::size_t h = 0; h < H; ++h) {
          const auto expected =
              quadratic_form(q, k, v, h, closed_weights(kernel, h, times_of(layout, T, 0)));
          for (std::size_t i = 0; i < 2 * T; ++i)
            ASSERT_NEAR(double(y(0, i / 2, h, i % 2)), expected[i], tolerance) << i;
        }
      }
  }
}

/// k(lag) of N(mean, scale^2), in units of pi / tau.
TEST(TimeKernel, SpectralTendsToTheFourierTransformOfItsDensity) {
  TimeKernelSpec spec{"spectral", 4, 64, 4096};
  TimeKernel kernel(spec, 3, 4);
  const double unit[] = {std::numbers::pi / 4, std::numbers::pi / 16, std::numbers::pi / 64};
  const double mean[] = {0, 0.8, -1.5}, scale[] = {1, 0.5, 1.7};
  for (const NamedParameter& named : parameters_of(kernel))
    for (std::size_t h = 0; h < 3; ++h) {
      if (named.name == "density.mean") named.parameter->value().data()[h] = real(mean[h]);
      if (named.name == "density.log_scale")
        named.parameter->value().data()[h] = real(std::log(scale[h]));
    }
  Tape tape;
  const Tensor rotation = kernel.rotation(tape).value();
  for (std::size_t h = 0; h < 3; ++h)
    for (const double turns : {0.0, 0.1, 0.5, 1.0, 2.0, 5.0}) {
      const double lag = turns / unit[h];
      const double expected =
          std::cos(mean[h] * turns) * std::exp(-std::pow(scale[h] * turns, 2) / 2);
      const double amplitude = 4096 * double(rotation(h, 0, 1));
      EXPECT_NEAR(amplitude, 0.454, 1e-3);
      EXPECT_NEAR(factor_of(rotation, h, lag), 1 + amplitude * expected, 1e-3);
    }
}

TEST(TimeKernel, HarmonicsAreThoseOfTheSteepestNonNegativePolynomial) {
  for (const std::size_t N : {1, 2, 3, 8}) {
    const std::vector<double> c = harmonic_coefficients(N);
    ASSERT_EQ(c.size(), N);
    EXPECT_NEAR(c[0], std::cos(std::numbers::pi / double(N + 2)), 1e-12);
    double lowest = 1;
    for (int i = 0; i <= 1000; ++i) {
      double y = 1;
      for (std::size_t k = 1; k <= N; ++k)
        y += 2 * c[k - 1] * std::cos(double(k) * std::numbers::pi * i / 1000);
      lowest = std::min(lowest, y);
    }
    EXPECT_NEAR(lowest, 0, 1e-4) << N;
    EXPECT_GE(lowest, -1e-12) << N;
  }
}

/// After a million tokens, where the phase is thousands of cycles.
TEST(TimeKernel, RotationIsExactFarFromTheStart) {
  for (const TimeKernelSpec& spec : turning_specs()) {
    SCOPED_TRACE(name_of(spec));
    TimeKernel kernel(spec, 2, 4);
    randomize(kernel, 0.4);
    Tape tape;
    const Tensor rotation = kernel.rotation(tape).value();
    const std::size_t n = frequencies_of(spec);
    const std::vector<double> c = harmonic_coefficients(spec.harmonics);
    const std::size_t phases = 2 * c.size() + 1;
    const double first = 1 << 20;
    const Tensor modulation = kernel.modulation(tape, {}, 8, first).value();
    for (std::size_t h = 0; h < 2; ++h) {
      const double depth = std::sqrt(double(n) * double(rotation(h, 0, 1)) / 2) / c[0];
      for (std::size_t t = 0; t < 8; ++t)
        for (std::size_t r = 0; r < n; ++r) {
          double wave = 1;
          for (std::size_t k = 1; k <= c.size(); ++k)
            wave += 2 * std::pow(depth, double(k)) * c[k - 1] *
                    std::cos(double(rotation(h, (k - 1) * n + r, 0)) * (first + double(t)));
          EXPECT_NEAR(double(modulation(0, t, h, phases * r)), wave / std::sqrt(double(phases * n)),
                      is_double ? 1e-9 : 1e-5);
        }
    }
  }
}

/// Compares the batch and single tokens at irregular distances.
void expect_steps_equal_the_batch(const std::string& mixer_kind, const std::string& kind) {
  MixerSpec spec;
  spec.width = 8, spec.heads = 2, spec.chunk = 4;
  spec.features.m = 5;
  spec.time_kernel = {kind, 2, 30};
  const std::unique_ptr<Mixer> mixer = mixers().make(mixer_kind, spec);
  randomize(*mixer);
  const std::size_t T = 21;
  const Tensor x = random_tensor({1, T, 8}, 1);
  Tensor gaps = random_tensor({1, T}, 2);
  gaps = xt::abs(gaps) * real(3);
  Tape tape({.recording = false});
  const Tensor batch = mixer->forward(tape, x, {.gaps = gaps}).value();
  const std::unique_ptr<MixerState> state = mixer->start();
  for (std::size_t t = 0; t < T; ++t) {
    Tensor token = uninitialized({1, 1, 8});
    std::copy_n(x.data() + t * 8, 8, token.data());
    state->gap = gaps.data()[t];
    const Tensor y = mixer->step(tape, token, *state).value();
    for (std::size_t e = 0; e < 8; ++e)
      ASSERT_NEAR(double(y.data()[e]), double(batch.data()[t * 8 + e]), tolerance) << kind << t;
  }
}

TEST(TimeKernel, StepsOverIrregularGapsEqualTheBatch) {
  for (const char* kind : {"decay", "rotation", "spectral", "gate"})
    expect_steps_equal_the_batch("linear", kind);
  for (const char* kind : {"none", "decay"}) expect_steps_equal_the_batch("softmax", kind);
}

/// Gaps from one to hundreds of time constants.
TEST(TimeKernel, GatesStartAtAnyTimeConstant) {
  for (const double shortest : {1e-3, 0.01, 1.0, 1e4}) {
    MixerSpec spec;
    spec.kind = "linear", spec.width = 8, spec.heads = 2, spec.features.m = 4;
    spec.time_kernel = {"gate", shortest, 2 * shortest};
    const std::unique_ptr<Mixer> mixer = mixers().make("linear", spec);
    initialize(*mixer, 1);
    Tape tape;
    Tensor gaps = xt::abs(random_tensor({1, 5}, 2));
    gaps(0, 2) = 0;
    const Tensor y = mixer->forward(tape, random_tensor({1, 5, 8}, 1), {.gaps = gaps}).value();
    for (const real value : y) EXPECT_TRUE(std::isfinite(value)) << shortest;
  }
}

/// Twice the gaps at half the rates give the same outputs.
TEST(TimeKernel, SlopesOfExactAttentionAreInRealTime) {
  MixerSpec spec;
  spec.width = 8, spec.heads = 2, spec.time_kernel = {"decay", 2, 30};
  const Tensor x = random_tensor({1, 9, 8}, 1), gaps = xt::abs(random_tensor({1, 9}, 2));
  const auto output = [&](double slower, const Tensor& at) {
    spec.time_kernel.shortest = 2 * slower, spec.time_kernel.longest = 30 * slower;
    const std::unique_ptr<Mixer> mixer = mixers().make("softmax", spec);
    initialize(*mixer, 1);
    Tape tape;
    return mixer->forward(tape, x, {.gaps = at}).value();
  };
  const Tensor once = output(1, gaps), twice = output(2, gaps * real(2)),
               other = output(1, gaps * real(2));
  double change = 0;
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_NEAR(double(once.data()[i]), double(twice.data()[i]), tolerance);
    change = std::max(change, std::abs(double(once.data()[i] - other.data()[i])));
  }
  EXPECT_GT(change, 1e-3);
}

/// Many harmonics cancel to less than rounding far from the crest.
TEST(TimeKernel, TurnsOfLogarithmsStayFiniteWhereWavesCancel) {
  TimeKernel kernel({.kind = "spectral", .frequencies = 1, .harmonics = 64}, 1, 2);
  initialize(kernel, 1);
  Tape tape;
  const Var logarithms(zeros({1, 8192, 1, 1}));
  const Var y = modulated(Features(logarithms, FeatureScale::logarithmic),
                          kernel.modulation(tape, {}, 8192, 0))
                    .values();
  tape.backward(sum(y));
  EXPECT_TRUE(all_finite(y.data(), y.value().size()));
  for (const NamedParameter& named : parameters_of(kernel)) {
    const Tensor& gradient = named.parameter->gradient();
    EXPECT_TRUE(all_finite(gradient.data(), gradient.size())) << named.name;
  }
}

TEST(TimeKernel, RatesBeyondNumbersHaveNoGradient) {
  TimeKernel kernel({.kind = "decay"}, 2, 4);
  Parameter& log_rate = *parameters_of(kernel)[0].parameter;
  log_rate.value().fill(120);
  Tape tape;
  const Var rate = kernel.rate(tape, zeros({1, 3, 4}));
  tape.backward(sum(rate * 0));
  EXPECT_TRUE(all_finite(rate.data(), rate.value().size()));
  EXPECT_EQ(log_rate.gradient()(0), 0);
}

}  // namespace time_kernel_test
}  // namespace bochner::inline BOCHNER_PRECISION
