#include <gmock/gmock.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/fields/sensor_windows.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "data/messages.hpp"

namespace bochner {
namespace sensor_windows_test {

using testing::HasSubstr;

/// Returns rows with time i / 2, place i mod 5 on a line from 10, values i and -i; every seventh
/// value is missing.
SensorTable rows(std::size_t n) {
  SensorTable table{1, 2, {}, {}, {}, {}, {"t", "x", "up", "down"}};
  for (std::size_t i = 0; i < n; ++i) {
    table.times.push_back(double(i) / 2);
    table.places.push_back(10 + double(i % 5));
    table.values.push_back(i % 7 == 3 ? std::numeric_limits<double>::quiet_NaN() : double(i));
    table.values.push_back(-double(i));
    table.rows.push_back(i);
  }
  return table;
}

const SensorSpec spec{.length = 10, .validation = 0.25, .asked = 0.3};

TEST(SensorWindows, EveryReadingIsSeenOrAskedForOrMissing) {
  for (const std::string& ask : sensor_questions()) {
    SensorSpec asking = spec;
    asking.ask = ask;
    const SensorWindows windows(rows(100), asking);
    EXPECT_EQ(windows.examples(Split::train), 75u - 9);
    EXPECT_EQ(windows.examples(Split::validation), 2u);
    const SensorBatch batch = windows.batch(windows.in_order(Split::validation, 0, 2));
    double asked = 0;
    for (std::size_t i = 0; i < batch.values.size(); ++i) {
      const std::size_t row = 75 + i / 2;
      const bool missing = i % 2 == 0 && row % 7 == 3;
      EXPECT_EQ(batch.seen.data()[i] + batch.asked.data()[i], missing ? 0 : 1) << ask << i;
      EXPECT_EQ(batch.values.data()[i] + batch.targets.data()[i],
                missing ? 0 : real(i % 2 == 0 ? double(row) : -double(row)));
      EXPECT_EQ(batch.values.data()[i] != 0, batch.seen.data()[i] != 0);
      if (i % 2 == 1) asked += double(batch.asked.data()[i]);
    }
    EXPECT_EQ(asked, ask == "places" ? 8 : 6) << ask;  // whole places of two readings each
    EXPECT_EQ(batch.times[19], 4.5);
    EXPECT_EQ(batch.times[10], 0);
    EXPECT_EQ(batch.places[13], 13);
  }
}

/// Returns rows of a window that are asked for, by a value that is never missing.
std::set<std::size_t> asked_rows(const SensorBatch& batch, std::size_t b) {
  std::set<std::size_t> rows;
  for (std::size_t t = 0; t < 10; ++t)
    if (batch.asked(b, t, 1) != 0) rows.insert(t);
  return rows;
}

TEST(SensorWindows, AsksWhatItIsTold) {
  SensorSpec asking = spec;
  asking.ask = "last";
  const SensorWindows last(rows(100), asking);
  EXPECT_EQ(asked_rows(last.batch(last.training(0, 1)), 0), (std::set<std::size_t>{7, 8, 9}));
  asking.ask = "places";
  const SensorWindows places(rows(100), asking);
  for (std::size_t b = 0; b < 8; ++b) {
    const std::set<std::size_t> rows = asked_rows(places.batch(places.training(0, 8)), b);
    EXPECT_EQ(rows.size(), 4u);
    for (const std::size_t t : rows) EXPECT_TRUE(rows.contains((t + 5) % 10)) << t;
  }
}

/// Each epoch hides other values, validation always the same.
TEST(SensorWindows, AreFunctionsOfTheExample) {
  const SensorWindows windows(rows(100), spec), again(rows(100), spec);
  std::set<std::set<std::size_t>> questions;
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch)
    questions.insert(asked_rows(windows.batch({Split::train, {{5, epoch}}}), 0));
  EXPECT_GT(questions.size(), 5u);
  const SensorBatch one = windows.batch(windows.training(70, 2)),
                    other = again.batch(again.training(71, 1));
  for (std::size_t i = 0; i < other.targets.size(); ++i)
    EXPECT_EQ(one.targets.data()[20 + i], other.targets.data()[i]);
  const Examples held = windows.in_order(Split::validation, 0, 2);
  EXPECT_EQ(windows.batch(held).targets, again.batch(held).targets);
}

/// Validation rows affect neither training nor units.
TEST(SensorWindows, ScalesAreThoseOfTheTrainingRows) {
  SensorTable table = rows(100);
  const SensorScale scale = SensorWindows(table, spec).scale();
  EXPECT_NEAR(scale.mean[1], -37, 1e-12);
  EXPECT_NEAR(scale.deviation[1], std::sqrt((75.0 * 75 - 1) / 12), 1e-9);
  EXPECT_EQ(scale.places.origin[0], 10);
  EXPECT_EQ(scale.places.extent[0], 4);
  EXPECT_EQ(scale.span, 4.5);
  for (std::size_t i = 75; i < 100; ++i) table.values[2 * i] = table.values[2 * i + 1] = 1e9;
  for (std::size_t i = 75; i < 100; ++i) table.places[i] = 1e9;
  const SensorWindows other(table, spec);
  EXPECT_EQ(other.scale().mean, scale.mean);
  EXPECT_EQ(other.scale().places.extent, scale.places.extent);
  EXPECT_NE(other.fingerprint(), SensorWindows(rows(100), spec).fingerprint());
}

TEST(SensorWindows, SayWhatIsWrong) {
  EXPECT_THAT(message_of<DataError>([] { SensorWindows(rows(12), spec); }),
              HasSubstr("data.length = 10: longer than the 9 readings to train or the 3"));
  SensorTable table = rows(100);
  for (std::size_t i = 0; i < 75; ++i) table.values[2 * i] = std::nan("");
  EXPECT_THAT(message_of<DataError>([&] { SensorWindows(table, spec).scale(); }),
              HasSubstr("column up: has no value in the training readings"));
  EXPECT_EQ(SensorWindows(rows(100), spec).words(),
            "5 places in 1 dimensions, 2 variates, 100 readings  ·  66 examples to train, 2 to "
            "validate");
}

TEST(SensorWindows, RefuseASplitThatAsksForNothing) {
  SensorTable unknown = rows(100);
  for (std::size_t i = 2 * 75; i < 2 * 100; ++i) unknown.values[i] = std::nan("");
  EXPECT_THAT(message_of<DataError>([&] { SensorWindows(unknown, spec); }),
              HasSubstr("the validation split has no window that asks for a known value;"));
  SensorTable at_one_place = rows(100);
  for (double& place : at_one_place.places) place = 10;
  SensorSpec asking = spec;
  asking.ask = "places";
  EXPECT_THAT(message_of<DataError>([&] { SensorWindows(at_one_place, asking); }),
              HasSubstr("the training split has no window that asks for a known value: with "
                        "data.ask = places it needs two places or more"));
  for (std::size_t i = 0; i < 75; ++i) at_one_place.places[i] = double(i);
  asking.validation = 0;
  EXPECT_NO_THROW(SensorWindows(at_one_place, asking));
}

}  // namespace sensor_windows_test
}  // namespace bochner
