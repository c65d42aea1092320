#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/time_step.hpp>

#include "data/messages.hpp"

namespace bochner {
namespace calendar_test {

double phase_at(const char* cycle, const char* date) { return phase_in(cycle, *parse_time(date)); }

TEST(Calendar, TellsHowFarATimeIsThroughACycle) {
  EXPECT_DOUBLE_EQ(phase_at("minute", "2024-03-01 07:45"), 0.75);
  EXPECT_DOUBLE_EQ(phase_at("hour", "2024-03-01 06:00"), 0.25);
  EXPECT_DOUBLE_EQ(phase_at("weekday", "2024-03-04 23:00"), 0) << "a Monday";
  EXPECT_DOUBLE_EQ(phase_at("weekday", "2024-03-10"), 6.0 / 7);
  EXPECT_DOUBLE_EQ(phase_at("day", "2024-02-29"), 28.0 / 29);
  EXPECT_DOUBLE_EQ(phase_at("month", "2024-01-01"), 0);
  EXPECT_DOUBLE_EQ(phase_at("month", "2024-07-01"), 0.5);
  EXPECT_DOUBLE_EQ(phase_at("month", "2023-12-16"), (11 + 15.0 / 31) / 12);
}

TEST(Calendar, KnowsTimesBefore1970) {
  EXPECT_DOUBLE_EQ(phase_at("hour", "1969-12-31 18:00"), 0.75);
  EXPECT_DOUBLE_EQ(phase_at("weekday", "1969-12-31"), 2.0 / 7) << "a Wednesday";
}

TEST(Calendar, RefusesWhatIsNoDate) {
  EXPECT_EQ(message_of<DataError>([] { phase_in("hour", 1e15); }),
            "data.calendar: the time 1000000000000000.000000 is no date");
}

}  // namespace calendar_test
}  // namespace bochner
