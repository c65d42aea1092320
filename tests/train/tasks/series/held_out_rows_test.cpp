#include <gtest/gtest.h>

#include <bochner/base/numeric/philox.hpp>
#include <bochner/train/tasks/series/row_anomalies.hpp>
#include <bochner/train/tasks/series/row_imputation.hpp>
#include <cmath>

namespace bochner {
namespace held_out_rows_test {

/// Repeats the last value.
class LastValue : public RowForecasts {
 public:
  LastValue(const TimeSeries& series, std::size_t horizon) : series_(series), H_(horizon) {}
  std::size_t first_origin() const override { return 1; }
  Tensor at(const std::vector<std::size_t>& origins) override {
    Tensor all = uninitialized({origins.size(), 1, H_});
    for (std::size_t i = 0; i < all.size(); ++i)
      all.data()[i] = real(series_.values(0, origins[i / H_] - 1));
    return all;
  }

 private:
  const TimeSeries& series_;
  std::size_t H_;
};

MakeRowForecasts last_value(std::size_t horizon) {
  return [=](const TimeSeries& series) { return std::make_unique<LastValue>(series, horizon); };
}

/// One channel whose error of every lead is i for origin i of 1, ..., n.
Calibration ascending_errors(std::size_t n, std::size_t leads) {
  Calibration calibration{.leads = leads, .channels = {{}}};
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t lead = 0; lead < leads; ++lead)
      calibration.channels[0].errors.push_back(float(i * (lead + 1)) * (i % 2 == 0 ? 1 : -1));
  return calibration;
}

KnownRows known_rows_of(const std::vector<double>& values) {
  KnownRows known{{}, {}, {std::vector<bool>(values.size())}, {0}, 0};
  known.series.values = xt::xarray<double>::from_shape({1, values.size()});
  std::ranges::copy(values, known.series.values.data());
  for (std::size_t row = 0; row < values.size(); ++row) known.rows.push_back(row);
  return known;
}

TEST(HeldOutRows, HalfWidthsAreQuantilesByLead) {
  const HeldOutRows held(ascending_errors(199, 2));
  EXPECT_EQ(held.half_widths(0, 0.9), (std::vector<double>{180, 360}));
}

TEST(HeldOutRows, PoolsLeadsOfFewOrigins) {
  const HeldOutRows held(ascending_errors(19, 3));
  const std::vector<double> widths = held.half_widths(0, 0.9);
  EXPECT_NEAR(widths[0], 18, 1e-4);
  EXPECT_NEAR(widths[2], 54, 1e-4);
  EXPECT_THROW(held.half_widths(0, 0.999), std::invalid_argument);
}

TEST(HeldOutRows, AdaptsToKnownRowsOnly) {
  const HeldOutRows held(ascending_errors(199, 2));
  TimeSeries series;
  series.values = xt::xarray<double>{{0, 1000, 1000, 1000}};
  AdaptiveRows adaptive(held, 0, 1, 0.9);
  const real forecast[] = {0, 0};
  adaptive.add(1, forecast);
  adaptive.advance(2, series);  // row 1 is known, of row 2 nothing
  EXPECT_EQ(adaptive.half_width(0, 1), 360);
  // A miss: 0.1 - 0.005 0.9; rank 181 of 2, ..., 199, 1000.
  EXPECT_EQ(adaptive.half_width(0, 0), 182);
}

TEST(HeldOutRows, CountsRunsOfNoChange) {
  const double values[] = {0, 10, 20, 20.1, 20.2, 30, 40};
  const Stillness still = stillness_of(values, 7);
  EXPECT_EQ(still.step, 0.5);
  EXPECT_EQ(still.reached[0], 6u);
  EXPECT_EQ(still.reached[1], 1u);
  EXPECT_EQ(still.reached[2], 1u);
  EXPECT_EQ(still.reached[3], 0u);
}

/// Noise of deviation 1, and the calibration of forecasts by its last value.
struct Noise {
  std::vector<double> values;
  Calibration calibration{.leads = 4, .channels = {{}}};

  Noise() {
    const RandomFunction random{1, Purpose::test, 1};
    for (std::size_t i = 0; i < 700; ++i) values.push_back(random.normal(i));
    for (std::size_t i = 1; i < 500; ++i)
      for (std::size_t lead = 0; lead < 4; ++lead)
        calibration.channels[0].errors.push_back(float(values[i + lead] - values[i - 1]));
    calibration.channels[0].still = stillness_of(values.data(), 500);
    values.erase(values.begin(), values.begin() + 500);
  }
};

TEST(RowAnomalies, SpikeDoesNotSpoilTheNextRow) {
  Noise noise;
  noise.values[60] = 30;
  HeldOutRows held(noise.calibration);
  const auto scores = score_rows(known_rows_of(noise.values), held, last_value(4));
  EXPECT_TRUE(std::isnan(scores[0].score));
  EXPECT_GT(scores[60].score, 15);
  EXPECT_NEAR(scores[60].p, 2.0 / 500, 1e-9);  // the least p-value, of two comparisons
  EXPECT_LT(scores[61].score, 7);
  EXPECT_EQ(scores[61].expected[0], scores[60].expected[0]);
  EXPECT_NEAR(scores[62].expected[0], noise.values[61], 1e-6);
}

TEST(RowAnomalies, ShiftIsUnusualForThreeHorizons) {
  Noise noise;
  for (std::size_t i = 60; i < 100; ++i) noise.values[i] += 30;
  HeldOutRows held(noise.calibration);
  const auto scores = score_rows(known_rows_of(noise.values), held, last_value(4));
  for (std::size_t i = 60; i < 72; ++i) EXPECT_GT(scores[i].score, 15) << i;
  for (std::size_t i = 74; i < 100; ++i) EXPECT_LT(scores[i].score, 10) << i;
}

TEST(RowAnomalies, FrozenValuesAreUnusual) {
  Noise noise;
  for (std::size_t i = 60; i < 80; ++i) noise.values[i] = noise.values[59];
  HeldOutRows held(noise.calibration);
  const auto scores = score_rows(known_rows_of(noise.values), held, last_value(4));
  for (std::size_t i = 64; i < 80; ++i) EXPECT_GT(scores[i].score, 10) << i;
  EXPECT_LT(scores[81].score, 7);
}

/// The errors of the last value of a random walk make the best fill the line between neighbours.
TEST(RowImputation, FillsARandomWalkOnALine) {
  const RandomFunction random{1, Purpose::test, 2};
  Calibration calibration{.leads = 8, .channels = {{}}};
  for (std::size_t i = 0; i < 4000; ++i) {
    double error = 0;
    for (std::size_t lead = 0; lead < 8; ++lead)
      calibration.channels[0].errors.push_back(float(error += random.normal(8 * i + lead)));
  }
  KnownRows known = known_rows_of({0, 1, 2, 2, 2, 2, 6, 7, 3});
  for (const std::size_t row : {3u, 4u, 5u}) known.missing[0][row] = true;
  const Imputed imputed = impute_rows(known, calibration, last_value(8));
  for (std::size_t row = 3; row < 6; ++row) EXPECT_NEAR(imputed.values(0, row), row, 0.15) << row;
  EXPECT_EQ(imputed.by_lines, 0u);
  EXPECT_EQ(imputed.values(0, 6), 6);
}

TEST(RowImputation, FillsTheFirstRowsByTheNextValue) {
  KnownRows known = known_rows_of({5, 5, 5, 6});
  known.missing[0][0] = known.missing[0][1] = true;
  const Imputed imputed = impute_rows(known, ascending_errors(100, 2), last_value(2));
  EXPECT_EQ(imputed.values(0, 0), 5);
  EXPECT_EQ(imputed.values(0, 1), 5);
  EXPECT_GT(imputed.by_lines, 0u);
}

}  // namespace held_out_rows_test
}  // namespace bochner
