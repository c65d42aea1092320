#include <bochner/layers/encodings/time_encoding.hpp>
#include <cmath>
#include <numbers>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace time_start_test {

using namespace layer_check;

TimeEncodingSpec spec_of(const std::string& kind) {
  TimeEncodingSpec spec;
  spec.kind = kind, spec.m = 4096;
  return spec;
}

/// Returns bursts every 8 units, one after another in 4 sequences; the rest repeats the last time.
Times bursts(std::size_t T = 96) {
  Times times(std::vector<std::size_t>{4, T});
  const RandomFunction random{5, Purpose::test, 1};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::size_t event = std::min<std::size_t>(i % T, 80);
    times.data()[i] = 100.0 * double(i / T) + 8.0 * double(event / 4) + 0.7 * double(event % 4) +
                      0.1 * random.uniform(i / T * 81 + event);
  }
  return times;
}

TEST(TimeStart, DrawsThePeriodsOfEvents) {
  const std::vector<double> w = event_frequencies(bursts(), {1, Purpose::test, 2});
  EXPECT_EQ(w.size(), 256u);
  const double bin = 2 * std::numbers::pi / 160;
  std::size_t harmonics = 0, first = 0;
  for (const double omega : w) {
    const double turns = std::abs(omega) * 8 / (2 * std::numbers::pi);
    harmonics += std::abs(turns - std::round(turns)) * 2 * std::numbers::pi / 8 < 1.5 * bin;
    first += std::abs(turns - 1) * 2 * std::numbers::pi / 8 < 1.5 * bin;
    EXPECT_LE(std::abs(omega), 2 * std::numbers::pi + 1e-6);
  }
  EXPECT_GT(double(harmonics), 0.7 * 256);
  EXPECT_GT(double(first), 0.15 * 256);
  EXPECT_TRUE(event_frequencies(Times(std::vector<std::size_t>{2, 3}, 4.0), {}).empty());
}

std::vector<double> frequencies_of(TimeEncoding& encoding) {
  std::vector<double> w;
  for (const NamedParameter& named : parameters_of(encoding))
    if (named.name == "log_frequency")
      for (const real log_w : named.parameter->value()) w.push_back(std::exp(double(log_w)));
  return w;
}

TEST(TimeStart, GivesFreeFrequenciesTheQuantilesOfTheSpectrum) {
  for (const char* kind : {"free", "mercer", "mercer_summed"}) {
    TimeEncodingSpec spec = spec_of(kind);
    spec.m = 3;
    const auto encoding = make_time_encoding(spec);
    encoding->init_frequencies({-1, 9, 2, -3, 4, 0.5});
    const std::vector<double> w = frequencies_of(*encoding), expected{4, 2, 0.5};
    ASSERT_EQ(w.size(), 3u) << kind;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(w[i], expected[i], 1e-5) << kind << i;
  }
}

TEST(TimeStart, GivesDensitiesTheWidthOfTheSpectrum) {
  for (const char* kind : {"gaussian", "mixture", "flow"}) {
    const auto encoding = make_time_encoding(spec_of(kind));
    const double lag = 0.1;
    encoding->init_frequencies({-0.5, 0.5, 0.5});
    const double broad = encoding->kernel()(lag);
    encoding->init_frequencies({-3, 3, 1, 1});
    const double narrow = encoding->kernel()(lag);
    EXPECT_NEAR(std::log(1 - narrow) - std::log(1 - broad), std::log(5 / 0.25), 0.1) << kind;
  }
}

/// Two spectral lines: EM puts a component on each.
TEST(TimeStart, FitsAMixtureByEm) {
  TimeEncodingSpec spec = spec_of("mixture");
  spec.density.components = 2;
  spec.density.start = "em";
  const auto encoding = make_time_encoding(spec);
  encoding->init_frequencies({1.1, -1, 0.9, 5, -5.1, 4.9, 5, 5});
  for (const double lag : {0.1, 0.5, 1.3})
    EXPECT_NEAR(encoding->kernel()(lag), 0.375 * std::cos(lag) + 0.625 * std::cos(5 * lag), 0.01);
  spec.kind = "gaussian";
  EXPECT_EQ(op_check::error_of([&] {
              make_time_encoding(spec)->init_frequencies({1, 2});
            }),
            "[density] \"gaussian\" cannot be initialised by EM; use \"mixture\"");
}

TEST(TimeStart, OfAModelReachesEveryEncoding) {
  struct Two : Module {
    std::unique_ptr<TimeEncoding> first = make_time_encoding({.kind = "free", .m = 3}),
                                  second = make_time_encoding({.kind = "gaussian", .m = 3});
    void visit(Visitor& visitor) override {
      visitor("first", *first);
      visitor("second", *second);
    }
  } two;
  const double before = two.second->kernel()(0.1);
  init_time_frequencies(two, bursts(), 1);
  EXPECT_LT(frequencies_of(*two.first)[0], 2 * std::numbers::pi + 1e-5);
  EXPECT_NE(two.second->kernel()(0.1), before);
  EXPECT_EQ(
      op_check::error_of([] { make_time_encoding({.kind = "sinusoidal"})->init_frequencies({1}); }),
      "[time_encoding] fixed frequencies cannot start from data");
  struct Own : TimeEncoding {
    std::size_t features() const override { return 1; }
    Var forward(Tape&, const Times&) override { return {}; }
    void visit(Visitor&) override {}
  };
  EXPECT_EQ(op_check::error_of([] { Own().init_frequencies({1}); }),
            "[time_encoding] this encoding cannot start from data; set start = \"none\"");
  EXPECT_EQ(op_check::error_of([&] {
              init_time_frequencies(two, Times(std::vector<std::size_t>{2, 3}, 4.0), 1);
            }),
            "[time_encoding] all events have the same time: no periodogram");
}

}  // namespace time_start_test
}  // namespace bochner::inline BOCHNER_PRECISION
