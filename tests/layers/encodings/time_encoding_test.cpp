#include <bochner/autodiff/ops.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/encodings/scales.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace time_encoding_test {

using namespace layer_check;

/// Returns all kinds except Mercer's.
std::vector<std::string> bochner_kinds() {
  std::vector<std::string> kinds = densities().names();  // including "free"
  kinds.push_back("sinusoidal");
  return kinds;
}

constexpr double exact = is_double ? 1e-12 : 2e-6;

TimeEncodingSpec spec_of(const std::string& kind, std::size_t m = 6) {
  TimeEncodingSpec spec;
  spec.kind = kind;
  spec.m = m;
  spec.degree = 3;
  spec.longest = 100;
  spec.density.draws = "iid";
  spec.density.log_scale = 0;
  return spec;
}

Times times_of(const std::vector<double>& numbers) {
  Times times(std::vector<std::size_t>{numbers.size()});
  std::copy(numbers.begin(), numbers.end(), times.begin());
  return times;
}

/// Takes gradient steps on an arbitrary loss, so that every parameter moves.
void train(TimeEncoding& encoding) {
  if (parameters_of(encoding).empty()) return;
  const Times times = times_of({0, 0.5, 1.25, 3, 7.75});
  const Tensor targets = random_tensor({5, encoding.features()}, 3);
  for (int step = 0; step < 20; ++step) {
    for (const NamedParameter& named : parameters_of(encoding)) named.parameter->zero_gradient();
    Tape tape;
    tape.training = true;
    tape.backward(mean_squared_error(encoding.forward(tape, times), targets));
    for (const NamedParameter& named : parameters_of(encoding))
      for (std::size_t i = 0; i < named.parameter->value().size(); ++i)
        named.parameter->value().data()[i] -= real(0.2) * named.parameter->gradient().data()[i];
  }
}

/// Returns the largest difference between K(at + lag, at) and K(lag, 0). Binary fractions avoid
/// rounding.
double variation(TimeEncoding& encoding) {
  const std::vector<double> lags{0, 0.25, 1, 2.5, 17, 300};
  const std::vector<double> first = estimated_time_kernel(encoding, lags);
  double worst = 0;
  for (const double at : {-3.5, 0.125, 64.0, 1048576.75}) {
    const std::vector<double> later = estimated_time_kernel(encoding, lags, at);
    for (std::size_t i = 0; i < lags.size(); ++i)
      worst = std::max(worst, std::abs(first[i] - later[i]));
  }
  return worst;
}

TEST(TimeEncoding, OfBochnerHasLengthOneAndSeesLagsOnlyBeforeAndAfterTraining) {
  for (const std::string& kind : bochner_kinds()) {
    const auto encoding = make_time_encoding(spec_of(kind));
    initialize(*encoding, 1);
    for (int round = 0; round < 2; ++round) {
      EXPECT_NEAR(estimated_time_kernel(*encoding, {0}, 12.75)[0], 1, exact) << kind;
      EXPECT_LT(variation(*encoding), exact) << kind << (round ? " trained" : "");
      train(*encoding);
    }
  }
}

TEST(TimeEncoding, OfMercerSeesLagsOnlyExactlyWherePairedCoefficientsAreEqual) {
  TimeEncodingSpec spec = spec_of("mercer");
  const auto paired = make_time_encoding(spec);
  spec.paired = false;
  const auto unpaired = make_time_encoding(spec);
  EXPECT_LT(variation(*unpaired), exact);  // initially equal
  train(*paired);
  EXPECT_LT(variation(*paired), exact);
  train(*unpaired);
  EXPECT_GT(variation(*unpaired), 1e-3);
  Tensor& log_c = parameters_of(*unpaired)[1].parameter->value();
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 1; j <= 3; ++j) log_c(i, 3 + j) = log_c(i, j);
  EXPECT_LT(variation(*unpaired), exact);
  log_c(2, 5) += real(0.1);
  EXPECT_GT(variation(*unpaired), 1e-3);
  EXPECT_FALSE(unpaired->kernel());
}

TEST(TimeEncoding, IsDifferentiable) {
  const Times times = times_of({-1, 0, 0.7, 2.3});
  for (const std::string& kind : time_encodings().names()) {
    for (const bool paired : {true, false}) {
      TimeEncodingSpec spec = spec_of(kind, 3);
      spec.paired = paired;
      const auto encoding = make_time_encoding(spec);
      randomize(*encoding);
      check_layer(*encoding, random_tensor({4, encoding->features()}, 1),
                  [&](Tape& tape, const Var& x) { return x * encoding->forward(tape, times); });
    }
  }
}

/// E K = cos(mean lag) exp(-(scale lag)^2 / 2), with the known variance of one draw.
TEST(TimeEncoding, OfAGaussianEstimatesItsKernel) {
  constexpr std::size_t m = 1 << 14;
  const auto encoding = make_time_encoding(spec_of("gaussian", m));
  const double mean = 0.75, scale = 0.5;
  parameters_of(*encoding)[0].parameter->value().fill(real(mean));
  parameters_of(*encoding)[1].parameter->value().fill(real(std::log(scale)));
  const std::vector<double> lags{0.1, 0.5, 1, 2, 4, 8};
  const std::vector<double> estimate = estimated_time_kernel(*encoding, lags);
  for (std::size_t i = 0; i < lags.size(); ++i) {
    const double x = scale * scale * lags[i] * lags[i], phase = mean * lags[i];
    const double expected = std::cos(phase) * std::exp(-x / 2);
    const double variance = (1 + std::cos(2 * phase) * std::exp(-2 * x)) / 2 - expected * expected;
    EXPECT_NEAR(encoding->kernel()(lags[i]), expected, 1e-6);
    EXPECT_NEAR(estimate[i], expected, 5 * std::sqrt(variance / double(m)) + 1e-6);
  }
}

TEST(TimeEncoding, KernelsInClosedFormAreThoseOfTheFeatures) {
  const std::vector<double> lags{0, 0.3, 1, 5, 40};
  for (const std::string& kind : time_encodings().names()) {
    const bool is_exact = kind == "free" || kind == "sinusoidal" || kind == "mercer";
    const auto encoding = make_time_encoding(spec_of(kind, is_exact ? 6 : 1 << 14));
    const auto kernel = encoding->kernel();
    EXPECT_EQ(bool(kernel), kind != "mercer_summed") << kind;
    if (!kernel) continue;
    // The mixture's closed form has a hard choice, its features a soft one.
    const double limit = is_exact ? (is_double ? 1e-12 : 1e-5) : kind == "mixture" ? 0.1 : 0.04;
    const std::vector<double> estimate = estimated_time_kernel(*encoding, lags);
    for (std::size_t i = 0; i < lags.size(); ++i)
      EXPECT_NEAR(estimate[i], kernel(lags[i]), limit) << kind << " " << lags[i];
  }
}

/// Compares F(w) by quadrature with the probability u that gave w.
TEST(TimeEncoding, FlowIsAMonotoneQuantileFunction) {
  DensitySpec spec;
  spec.kind = "flow";
  spec.heads = spec.dim = 1;
  spec.m = 40;
  const auto density = make_density(spec);
  randomize(*density, 0.7);
  Tensor z = zeros({1, 40, 1});
  for (std::size_t i = 0; i < 40; ++i) z.data()[i] = real(-3.9 + 0.2 * double(i));
  Tape tape({.recording = false});
  const Tensor w = density->sample(tape, Var(z)).value();
  const PointFunction log_density = density->log_density(0);
  for (std::size_t i = 1; i < 40; ++i) {
    ASSERT_GT(w.data()[i], w.data()[i - 1]);
    const double low = double(w.data()[i - 1]), high = double(w.data()[i]);
    constexpr int steps = 20000;
    double probability = 0;
    for (int step = 0; step < steps; ++step) {
      const double at = low + (high - low) * (step + 0.5) / steps;
      probability += std::exp(log_density(&at)) * (high - low) / steps;
    }
    const auto cdf = [&](std::size_t k) {
      return std::erfc(-double(z.data()[k]) / std::numbers::sqrt2) / 2;
    };
    EXPECT_NEAR(probability, cdf(i) - cdf(i - 1), 1e-6);
  }
}

TEST(TimeEncoding, IsFixedInEvaluationAndRedrawnInTraining) {
  TimeEncodingSpec spec = spec_of("gaussian");
  spec.density.redraw = 10;
  const auto encoding = make_time_encoding(spec);
  const auto features = [&](bool training, std::uint64_t step) {
    Tape tape;
    tape.training = training;
    tape.step = step;
    return encoding->forward(tape, times_of({1, 2})).value();
  };
  EXPECT_TRUE(same_bits(features(false, 0), features(false, 100)));
  EXPECT_TRUE(same_bits(features(true, 13), features(true, 17)));
  EXPECT_FALSE(same_bits(features(true, 13), features(true, 23)));
}

/// Mercer and free frequencies can start evenly spaced.
TEST(TimeEncoding, FrequenciesStartInASeries) {
  TimeEncodingSpec spec = spec_of("mercer");
  spec.m = 5, spec.shortest = 2, spec.longest = 10;
  for (const char* kind : {"mercer", "mercer_summed", "free"}) {
    for (const char* spacing : {"linear", "geometric"}) {
      spec.kind = kind, spec.spacing = spacing;
      const auto encoding = make_time_encoding(spec);
      const Tensor& log_w = parameters_of(*encoding)[0].parameter->value();
      for (std::size_t i = 0; i < 5; ++i) {
        const double turns =
            spacing[0] == 'l' ? 0.5 - 0.1 * double(i) : 0.5 * std::pow(5, -double(i) / 4);
        EXPECT_NEAR(double(log_w(i)), std::log(2 * std::numbers::pi * turns), 1e-5) << kind << i;
      }
    }
  }
  spec.spacing = "even";
  EXPECT_EQ(op_check::error_of([&] { make_time_encoding(spec); }),
            "[time encoding] spacing = \"even\"; there are: geometric, linear");
}

/// Without its end, a linear grid is that of a discrete Fourier transform: K is 0 at all multiples
/// of 1 / (1 / shortest - 1 / longest) less than m of them, where it is 1 again.
TEST(TimeEncoding, LinearFrequenciesWithoutTheirEndAreOrthogonal) {
  TimeEncodingSpec spec = spec_of("sinusoidal", 8);
  spec.spacing = "linear", spec.shortest = 2, spec.longest = 18;  // 1/2, 4/9, .. 1/9 cycles
  const auto kernel = [&](bool endpoint) {
    spec.endpoint = endpoint;
    const auto encoding = make_time_encoding(spec);
    return estimated_time_kernel(*encoding, {0, 2.25, 4.5, 9, 15.75, 18}, 0.7);
  };
  const std::vector<double> open = kernel(false), closed = kernel(true);
  for (std::size_t i = 0; i < open.size(); ++i)
    EXPECT_NEAR(open[i], i == 0 || i == 5 ? 1 : 0, exact) << i;
  EXPECT_GT(std::abs(closed[1]), 0.05) << "with the end, the steps are longer";
}

/// Vaswani et al., 2017: 10000^(-i / m), which never reaches 1 / 10000.
TEST(TimeEncoding, GeometricFrequenciesWithoutTheirEndAreThoseOfPositions) {
  TimeEncodingSpec spec = spec_of("free", 8);
  spec.endpoint = false;
  spec.shortest = 2 * std::numbers::pi, spec.longest = 10000 * spec.shortest;
  const auto encoding = make_time_encoding(spec);
  const Tensor& log_w = parameters_of(*encoding)[0].parameter->value();
  for (std::size_t i = 0; i < spec.m; ++i)
    EXPECT_NEAR(double(log_w(i)), -std::log(10000.0) * double(i) / 8, 10 * exact);
}

TEST(TimeEncoding, RefusesWhatIsNone) {
  EXPECT_EQ(make_time_encoding(spec_of("none")), nullptr);
  EXPECT_THROW(make_time_encoding(spec_of("clock")), std::invalid_argument);
  TimeEncodingSpec spec = spec_of("free");
  spec.longest = 0.5;
  EXPECT_EQ(op_check::error_of([&] { make_time_encoding(spec); }),
            "[time_encoding] requires m >= 1 and 0 < shortest <= longest: m = 6, "
            "shortest = 1, longest = 0.5");
}

TEST(TimeScale, ComesFromTheData) {
  Times times(std::vector<std::size_t>{2, 4});
  const double seconds[] = {1.7e9,       1.7e9 + 10,  1.7e9 + 30,  1.7e9 + 30,
                            1.7e9 + 500, 1.7e9 + 520, 1.7e9 + 560, 1.7e9 + 1000};
  std::copy(std::begin(seconds), std::end(seconds), times.begin());
  TimeScale scale;
  scale.fit(times);
  EXPECT_EQ(scale.unit(), 20);  // median of 10, 20, 20, 40, 440, those above 0
  const Times scaled = scale.scaled(times);
  EXPECT_NEAR(scaled(0, 1) - scaled(0, 0), 0.5, 1e-12);
  EXPECT_NEAR(scaled(1, 3) - scaled(1, 2), 22, 1e-12);
  EXPECT_LT(std::abs(scaled(0, 0)), 4);  // the origin is rounded to float
  times(0, 2) = 0;
  EXPECT_THROW(scale.fit(times), std::invalid_argument);
}

}  // namespace time_encoding_test
}  // namespace bochner::inline BOCHNER_PRECISION
