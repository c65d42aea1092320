#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/series/moments.hpp>
#include <cmath>
#include <vector>

#include "data/messages.hpp"

namespace bochner {
namespace moments_test {

Moments of(const std::vector<double>& numbers) {
  return moments_of(
      [&](const auto& action) { std::for_each(numbers.begin(), numbers.end(), action); });
}

TEST(Moments, AreThoseOfAllNumbers) {
  const auto [mean, deviation] = of({1, 2, 3, 4, 5, 6});
  EXPECT_DOUBLE_EQ(mean, 3.5);
  EXPECT_DOUBLE_EQ(deviation, std::sqrt(35.0 / 12));
}

/// Summing 600 times 19.99 is not exact.
TEST(Moments, EqualNumbersDoNotDeviateByARounding) {
  const auto [mean, deviation] = of(std::vector<double>(600, 19.99));
  EXPECT_EQ(mean, 19.99);
  EXPECT_EQ(deviation, 0);
}

TEST(Moments, RoundingErrorsAreNoChange) {
  EXPECT_EQ(resolved(of({0.3, 0.1 + 0.2, 0.3}), "x").deviation, 0);
  EXPECT_DOUBLE_EQ(resolved(of({1e-30, 3e-30}), "x").deviation, 1e-30);
  EXPECT_EQ(resolved(of({-1, 1}), "x").deviation, 1);
}

/// Squares of these numbers underflow.
TEST(Moments, OfDenormalNumbersAreThoseOfAllOthers) {
  for (const double unit : {1e-170, 1e-310}) {
    const auto [mean, deviation] = of({-unit, unit, 3 * unit, 5 * unit});
    EXPECT_NEAR(mean / unit, 2, 1e-12);
    EXPECT_NEAR(deviation / unit, std::sqrt(5.0), 1e-12);
  }
}

TEST(Moments, LargeCountsAreNoConstants) {
  for (const double size : {1e12, 1e15})
    EXPECT_THAT(message_of<DataError>([&] {
                  resolved(of({size, size + 2, size}), "x");
                }),
                testing::HasSubstr("too little for a model to distinguish them"));
  const std::vector<double> counts{1e15, 1e15 + 2, 1e15 + 4, 1e15 + 6};
  EXPECT_THAT(message_of<DataError>([&] { coarse_steps(counts.data(), 4, "x"); }),
              testing::HasSubstr("and a model sees none of it"));
  EXPECT_EQ(resolved(of({1e20, std::nextafter(1e20, 0)}), "x").deviation, 0);
}

TEST(Moments, RefusesWhatAModelCannotTellApart) {
  const double step = double(std::numeric_limits<real>::epsilon());
  EXPECT_EQ(resolved({1, 11 * step}, "x").deviation, 11 * step);
  EXPECT_THAT(message_of<DataError>([&] {
                resolved({1e8, 9e8 * step}, "column \"load\"");
              }),
              testing::AllOf(testing::StartsWith("column \"load\": its numbers differ by some "),
                             testing::HasSubstr(" around 1e+08, too little for a model")));
}

/// A meter's readings vary much but change little from row to row.
TEST(Moments, StepsOfAMeterAreHeldAgainstItsReadings) {
  const double step = double(std::numeric_limits<real>::epsilon());
  const auto meter = [](double from, double by) {
    std::vector<double> x;
    for (int row = 0; row < 1000; ++row) x.push_back(from + by * row);
    return coarse_steps(x.data(), x.size(), "column \"kwh\"");
  };
  EXPECT_EQ(meter(0, 6), "");
  EXPECT_EQ(meter(1, 40 * step), "");
  EXPECT_THAT(meter(1, 5 * step),
              testing::AllOf(testing::StartsWith("column \"kwh\" changes by some "),
                             testing::HasSubstr("a model sees only a few steps of it; subtract")));
  EXPECT_THAT(message_of<DataError>([&] { meter(1e9, 1e8 * step); }),
              testing::AllOf(testing::HasSubstr(" from row to row around 1e+09, and"),
                             testing::HasSubstr("a model sees none of it; subtract a number")));
  EXPECT_EQ(meter(1e9, 0), "") << "a constant";
}

/// One jump to a large offset with a nearly constant tail is not a meter.
TEST(Moments, AFewSmallStepsDoNotMatter) {
  std::vector<double> x;
  for (int row = 0; row < 1000; ++row) x.push_back(1 - std::exp(-0.02 * row));
  EXPECT_EQ(coarse_steps(x.data(), x.size(), "x"), "");
}

}  // namespace moments_test
}  // namespace bochner
