#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <set>

#include "layers/spectral/density_check.hpp"

/// Tests of every registered density.
namespace bochner::inline BOCHNER_PRECISION {
namespace density_test {

using namespace density_check;

class EveryDensity : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryDensity, IsDifferentiableInItsParameters) {
  for (std::size_t d : {1, 4}) {
    const auto density = random_density(GetParam(), d, 7, 0.5);
    check_layer(*density, random_tensor({1}, 1),
                [&](Tape& tape, const Var&) { return density->draws(tape); });
  }
}

TEST_P(EveryDensity, KernelIsTheMeanCosine) {
  for (std::size_t d : {1, 3, 5}) {
    const auto density = random_density(GetParam(), d, 40000);
    const PointFunction kernel = density->kernel(1);
    if (!kernel) continue;
    const std::vector<double> w = draws_of(*density, 1);
    for (const std::vector<double>& lag : lags(d)) {
      const auto mean_of = [&](const double* x) { return cosine(x, lag); };
      expect_mean(w, d, mean_of, kernel(lag.data()), "d " + std::to_string(d));
    }
    EXPECT_NEAR(kernel(std::vector<double>(d).data()), 1, 1e-9);
  }
}

TEST_P(EveryDensity, LogDensityIsThatOfTheDrawsOnTheLine) {
  const auto density = random_density(GetParam(), 1, 40000);
  const PointFunction log_density = density->log_density(1);
  if (!log_density) return;
  const auto probability = [&](double w) { return std::exp(log_density(&w)); };
  EXPECT_NEAR(integral(probability), 1, is_double ? 1e-5 : 1e-4);
  const std::vector<double> w = draws_of(*density, 1);
  for (double edge : {-1.0, -0.2, 0.3, 1.1}) {
    const auto below = [&](const double* x) { return double(*x < edge); };
    const double expected = integral([&](double x) { return x < edge ? probability(x) : 0; });
    expect_mean(w, 1, below, expected, "below " + std::to_string(edge));
  }
}

TEST_P(EveryDensity, MarginalsAreThoseOfTheDraws) {
  const std::set<std::string> closed{"gaussian",  "gaussian_full", "mixture",
                                     "student_t", "cauchy",        "laplace"};
  const auto density = random_density(GetParam(), 3, 40000);
  const std::vector<double> w = draws_of(*density, 1);
  for (std::size_t j = 0; j < 3; ++j) {
    const PointFunction marginal = density->log_marginal(1, j);
    ASSERT_EQ(bool(marginal), closed.contains(GetParam()));
    if (!marginal) return;
    for (const double edge : {-0.3, 0.4}) {
      const auto below = [&](const double* x) { return double(x[j] < edge); };
      const double expected =
          integral([&](double x) { return x < edge ? std::exp(marginal(&x)) : 0; });
      expect_mean(w, 3, below, expected, "coordinate " + std::to_string(j));
    }
  }
}

/// A spread of two octaves equals separate densities an octave lower and higher.
TEST_P(EveryDensity, StartsItsHeadsApart) {
  DensitySpec spec;
  spec.kind = GetParam(), spec.heads = 2, spec.m = 5, spec.dim = 3;
  const auto draws = [&](double spread, double log_scale, bool from_data, std::size_t head) {
    DensitySpec other = spec;
    other.spread = spread, other.log_scale = from_data ? 0 : log_scale;
    const auto density = make_density(other);
    initialize(*density, 7);
    if (from_data) density->init_log_scale(std::vector<double>(3, log_scale));
    return draws_of(*density, head);
  };
  for (const bool from_data : {false, true})
    for (std::size_t head : {0, 1}) {
      const double octave = std::numbers::ln2 * (head == 0 ? -1 : 1);
      const std::vector<double> apart = draws(2, -0.5, from_data, head);
      const std::vector<double> moved = draws(0, -0.5 + octave, from_data, head);
      for (std::size_t i = 0; i < apart.size(); ++i)
        EXPECT_NEAR(apart[i], moved[i], (is_double ? 1e-12 : 1e-5) * (1 + std::abs(moved[i])));
    }
}

/// Returns the median of every coordinate.
std::vector<double> medians_of(const std::vector<double>& points, std::size_t d) {
  std::vector<double> middle;
  for (std::size_t j = 0; j < d; ++j) {
    std::vector<double> column;
    for (std::size_t i = j; i < points.size(); i += d) column.push_back(points[i]);
    std::nth_element(column.begin(), column.begin() + std::ptrdiff_t(column.size() / 2),
                     column.end());
    middle.push_back(column[column.size() / 2]);
  }
  return middle;
}

/// E 1 / p(omega) over a ball is the ball's volume.
TEST_P(EveryDensity, LogDensityIsThatOfTheDrawsInSpace) {
  const std::size_t d = 3;
  const auto density = random_density(GetParam(), d, 40000);
  const PointFunction log_density = density->log_density(0);
  if (!log_density) return;
  const std::vector<double> w = draws_of(*density, 0), middle = medians_of(w, d);
  for (double radius : {0.7, 0.9}) {
    std::size_t inside = 0;
    const auto inverse = [&](const double* x) {
      double square = 0;
      for (std::size_t j = 0; j < d; ++j) square += std::pow(x[j] - middle[j], 2);
      if (square > radius * radius) return 0.0;
      ++inside;
      return std::exp(-log_density(x));
    };
    expect_mean(w, d, inverse, 4 * std::numbers::pi / 3 * std::pow(radius, 3), "ball");
    EXPECT_GT(inside, 400u);
  }
}

TEST_P(EveryDensity, LogDensitiesOnTheTapeAreTheClosedForm) {
  if (GetParam() == "free") return;
  for (std::size_t d : {1, 4}) {
    const std::size_t m = 9;
    const auto density = random_density(GetParam(), d, m);
    Tensor points = random_tensor({2, m, d}, 1);
    for (std::size_t i = 0; i < 2 * d; ++i) points.data()[i * m] *= 9;  // beyond the splines
    const auto forward = [&](Tape& tape, const Var& x) { return density->log_densities(tape, x); };
    Tape tape;
    const Tensor logs = forward(tape, points).value();
    for (std::size_t i = 0; i < 2 * m; ++i) {
      const std::vector<double> x(points.data() + i * d, points.data() + (i + 1) * d);
      const double expected = density->log_density(i / m)(x.data());
      EXPECT_NEAR(logs.data()[i], expected,
                  (is_double ? 1e-9 : 1e-4) * std::max(1.0, std::abs(expected)));
    }
    check_layer(*density, points, forward);
  }
}

TEST_P(EveryDensity, LogDensityAtItsCentreIsANumber) {
  if (GetParam() == "free") return;
  for (std::size_t d : {1, 2, 3}) {
    const auto density = make_density({.kind = GetParam(), .heads = 1, .m = 1, .dim = d});
    const auto forward = [&](Tape& tape, real x) {
      return density->log_densities(tape, filled({1, 1, d}, x)).value().data()[0];
    };
    const auto exact = [&](double x) {
      return density->log_density(0)(std::vector<double>(d, x).data());
    };
    Tape tape;
    EXPECT_FALSE(std::isnan(forward(tape, 0))) << "d " << d;
    EXPECT_NEAR(forward(tape, 0), exact(0), 1e-3) << "d " << d;
    // The gradient of gamma vanishes there.
    if (d == 1 && GetParam() != "gamma") {
      EXPECT_NEAR(exact(0), exact(1e-7), 1e-5);
    }
  }
}

TEST_P(EveryDensity, EntropyIsTheMeanOfTheLogDensity) {
  for (std::size_t d : {1, 3}) {
    const auto density = random_density(GetParam(), d, 40000);
    const std::optional<double> entropy = density->entropy(1);
    if (!entropy) continue;
    const PointFunction log_density = density->log_density(1);
    ASSERT_TRUE(log_density);
    expect_mean(
        draws_of(*density, 1), d, [&](const double* x) { return -log_density(x); }, *entropy,
        "entropy");
  }
}

TEST_P(EveryDensity, IsFiniteForTheFarthestNoise) {
  const auto density = make_density({.kind = GetParam(), .heads = 1, .m = 2, .dim = 3});
  Tensor noise = buffers_of(*density)[0].tensor[0];
  for (std::size_t i = 0; i < noise.size(); ++i) noise.data()[i] = real(i % 2 == 0 ? 8.6 : -8.6);
  Tape tape;
  for (real x : density->sample(tape, tape.constant(noise)).value())
    EXPECT_TRUE(std::isfinite(x)) << x;
}

INSTANTIATE_TEST_SUITE_P(Densities, EveryDensity, ::testing::ValuesIn(densities().names()),
                         [](const auto& info) { return info.param; });

/// Custom density with frequencies of a wrong shape.
TEST(Density, OfAnotherShapeIsRefused) {
  struct Cut : SpectralDensity {
    explicit Cut(std::size_t axis)
        : SpectralDensity({.heads = 2, .m = 3, .dim = 4}, 1), axis(axis) {}
    Var sample(Tape&, const Var& noise) override {
      const Var w = slice(noise, -1, 0, 4);
      return axis < 3 ? slice(w, int(axis), 0, 1) : axis == 3 ? noise : axis == 4 ? w : Var();
    }
    std::size_t axis;
  };
  const auto error_of_cut = [](std::size_t axis) {
    Cut density(axis);
    Tape tape;
    return op_check::error_of([&] { density.draws(tape); });
  };
  const std::string made = "[density] \"gaussian\": sample() returned ";
  EXPECT_EQ(error_of_cut(0), made + "(1, 3, 4), expected (H, m, d) = (2, 3, 4)");
  EXPECT_EQ(error_of_cut(1), made + "(2, 1, 4), expected (H, m, d) = (2, 3, 4)");
  EXPECT_EQ(error_of_cut(2), made + "(2, 3, 1), expected (H, m, d) = (2, 3, 4)");
  EXPECT_EQ(error_of_cut(3), made + "(2, 3, 5), expected (H, m, d) = (2, 3, 4)");
  EXPECT_EQ(error_of_cut(4), "no error");
  EXPECT_EQ(error_of_cut(5), made + "nothing");
}

/// Beyond them quantiles do not converge.
TEST(Density, TakesAsManyDegreesAsItsQuantilesDo) {
  for (const DensitySpec& spec : {DensitySpec{.kind = "student_t", .dim = 3, .degrees = 1e9},
                                  DensitySpec{.kind = "gamma", .dim = 3, .shape = 1e8}}) {
    const auto density = make_density(spec);
    for (const double w : draws_of(*density, 0)) EXPECT_LT(std::abs(w), 10) << spec.kind;
  }
  const auto error_of = [](const DensitySpec& spec) {
    return op_check::error_of([&] { make_density(spec); });
  };
  EXPECT_EQ(error_of({.kind = "student_t", .degrees = 1e12}),
            "[density] degrees = 1000000000000: must be greater than 0.5 and at most 1000000000");
  EXPECT_EQ(error_of({.kind = "gamma", .shape = 1e11}),
            "[density] shape = 100000000000: must be greater than 0 and at most 100000000");
}

Tensor draws_at(SpectralDensity& density, bool training, std::uint64_t step) {
  Tape tape({.recording = false});
  tape.training = training, tape.step = step;
  return density.draws(tape).value();
}

TEST(Redraw, IsAFunctionOfTheStepInTrainingAndOffInEvaluation) {
  const DensitySpec spec{.heads = 2, .m = 5, .dim = 3, .redraw = 3};
  const auto density = make_density(spec);
  const Tensor saved = draws_at(*density, false, 0);
  std::vector<Tensor> rounds;
  for (std::uint64_t step = 0; step < 12; ++step) {
    const Tensor w = draws_at(*density, true, step);
    if (step % 3 == 0) rounds.push_back(w);
    op_check::expect_equal_bits(w, rounds.back());
    op_check::expect_equal_bits(draws_at(*density, false, step), saved);
  }
  op_check::expect_equal_bits(rounds[0], saved);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(rounds[i], rounds[j]);
  }
  const auto resumed = make_density(spec);  // without the steps before
  for (std::uint64_t step : {10, 4, 7, 0})
    op_check::expect_equal_bits(draws_at(*resumed, true, step), rounds[step / 3]);
}

TEST(Redraw, IsOffByDefault) {
  const auto density = make_density({.heads = 1, .m = 5, .dim = 3});
  op_check::expect_equal_bits(draws_at(*density, true, 1000), draws_at(*density, false, 0));
}

}  // namespace density_test
}  // namespace bochner::inline BOCHNER_PRECISION
