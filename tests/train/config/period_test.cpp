#include <gtest/gtest.h>

#include <bochner/train/config/period.hpp>
#include <stdexcept>

namespace period_test {

using bochner::format_period;
using bochner::parse_period;
using bochner::Period;
using bochner::steps_of;
using Unit = Period::Unit;

struct Case {
  const char* text;
  Period period;
  const char* formatted;
};

TEST(Period, ReadsEveryUnitAndWritesItBack) {
  const Case cases[] = {
      {"500", {500, Unit::steps}, "500"},
      {"2e", {2, Unit::epochs}, "2e"},
      {"0.5e", {0.5, Unit::epochs}, "0.5e"},
      {"5t", {5, Unit::tokens}, "5t"},
      {"100kt", {100e3, Unit::tokens}, "100kt"},
      {"10Mt", {10e6, Unit::tokens}, "10Mt"},
      {"2.5Gt", {2.5e9, Unit::tokens}, "2500Mt"},
      {"1.001kt", {1001, Unit::tokens}, "1001t"},
      {"45s", {45, Unit::seconds}, "45s"},
      {"0.25s", {0.25, Unit::seconds}, "0.25s"},
      {"30min", {1800, Unit::seconds}, "30min"},
      {"1.5h", {5400, Unit::seconds}, "90min"},
      {"120min", {7200, Unit::seconds}, "2h"},
      {"1000000000000000", {1e15, Unit::steps}, "1000000000000000"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(parse_period(c.text), c.period) << c.text;
    EXPECT_EQ(format_period(c.period), c.formatted);
    EXPECT_EQ(parse_period(c.formatted), c.period) << c.formatted;
  }
}

TEST(Period, ZeroAndNothingAreOff) {
  for (const char* text : {"", "0", "0e", "0.0min", "0Mt"}) {
    EXPECT_EQ(parse_period(text), Period{}) << text;
    EXPECT_TRUE(parse_period(text).off());
  }
  EXPECT_EQ(format_period(Period{}), "0");
}

TEST(Period, RefusesAnythingElseWithTheGrammar) {
  for (const char* text :
       {"5 parsecs", "1e3",  "-5",   "+5",       "1.5",    "0.5t",  "10M",
        "10mt",      "5.",   ".5e",  " 5",       "5 ",     "e",     "inf",
        "nan",       "0x10", "1,5h", "5minutes", "30 min", "1e400", "0.0000001e"}) {
    try {
      parse_period(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_STREQ(error.what(),
                   "must be a period: 500 (steps), 2e (epochs), 10Mt (tokens; k, M or G), 45s, "
                   "30min or 2h");
    }
  }
}

TEST(Period, SaysHowLargeItMayBe) {
  for (const char* text : {"4000000000000000000", "1000000000000001", "99999999999Gt"}) {
    try {
      parse_period(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_STREQ(error.what(), "must be at most 10^15 steps, epochs, tokens or seconds");
    }
  }
  EXPECT_EQ(parse_period("1000000000000000").count, 1e15);
}

TEST(Period, EveryDigitSurvivesTheRoundTrip) {
  for (int i = 1; i < 2000; ++i) {
    const Period hours = parse_period("0." + std::to_string(i) + "h");
    EXPECT_EQ(parse_period(format_period(hours)), hours) << i;
  }
}

TEST(Period, BecomesStepsRoundedUp) {
  EXPECT_EQ(steps_of(parse_period("500"), 4096, 37), 500);
  EXPECT_EQ(steps_of(parse_period("2e"), 4096, 37), 74);
  EXPECT_EQ(steps_of(parse_period("0.5e"), 4096, 37), 19);
  EXPECT_EQ(steps_of(parse_period("10e"), 4096, 299. / 160), 19) << "windows by batches";
  EXPECT_EQ(steps_of(parse_period("10e"), 4096, 3. / 160), 1);
  EXPECT_EQ(steps_of(parse_period("0.07e"), 4096, 100), 7) << "no rounding error is a step";
  EXPECT_EQ(steps_of(parse_period("3e"), 4096, 10. / 3), 10);
  EXPECT_EQ(steps_of(parse_period("10kt"), 4096, 37), 3);
  EXPECT_EQ(steps_of(parse_period("8192t"), 4096, 37), 2);
  EXPECT_EQ(steps_of(Period{}, 4096, 37), 0);
  EXPECT_EQ(steps_of(parse_period("1000000000000000e"), 4096, 1e6), 1000000000000000);
  EXPECT_THROW(steps_of(parse_period("30min"), 4096, 37), std::invalid_argument);
}

}  // namespace period_test
