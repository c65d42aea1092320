#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <functional>

#include "data/messages.hpp"
#include "train/tasks/config_templates/template_fixture.hpp"

namespace bochner {
namespace table_templates_test {

using namespace template_fixture;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class StarterTables : public Starter {
 protected:
  /// Returns rows that begin with these texts.
  std::filesystem::path table_of(const std::string& header, std::size_t rows,
                                 const std::function<std::string(std::size_t)>& time) {
    return write("a.csv", table(header, rows, [&](std::size_t i) {
                   return time(i) + "," + std::to_string(i % 7) + "," + std::to_string(i % 5);
                 }));
  }
  /// Returns the config of a forecaster of two columns.
  std::string format_of(const std::filesystem::path& file) {
    const Config config = config_for(file);
    EXPECT_EQ(config.text("model.kind"), "forecaster");
    EXPECT_THAT(config.text_list("data.columns"), ElementsAre("a", "b"));
    return config.text("data.time_format");
  }
};

/// Returns the first `digits` digits of 20240101000000, a later hour for each row.
std::string compact(double seconds, std::size_t digits) {
  std::string text = format_time(seconds);
  std::erase_if(text, [](char c) { return c < '0' || c > '9'; });
  return text.substr(0, digits);
}

TEST_F(StarterTables, DatesWithoutMarksAreDates) {
  const std::pair<std::size_t, const char*> formats[] = {
      {14, "%Y%m%d%H%M%S"}, {12, "%Y%m%d%H%M"}, {10, "%Y%m%d%H"}, {8, "%Y%m%d"}, {6, "%Y%m"}};
  for (const auto& [digits, format] : formats) {
    const double step = digits == 6 ? 31 * 86400 : digits == 8 ? 86400 : 3600;
    const std::size_t rows = digits == 6 ? 50 : 300;
    const auto time = [&](std::size_t i) {
      return compact(1.7040672e9 + step * double(i), digits);
    };
    const auto file = table_of("timestamp,a,b", rows, time);
    EXPECT_EQ(format_of(file), format);
    EXPECT_EQ(config_for(file).count("data.pause"), 1u) << format;
  }
  const auto year = [](std::size_t i) { return std::to_string(1400 + i); };
  EXPECT_EQ(format_of(table_of("date,a,b", 300, year)), "%Y");
  const auto unix_hours = [](std::size_t i) { return std::to_string(1704067200 + 3600 * i); };
  EXPECT_EQ(format_of(table_of("time,a,b", 300, unix_hours)), "%s");
}

TEST_F(StarterTables, CountersAreNoDates) {
  const auto file = table_of("time,a,b", 300, [](std::size_t i) { return std::to_string(i + 1); });
  EXPECT_EQ(format_of(file), "");
  EXPECT_EQ(config_for(file).text("data.time_column"), "");
  EXPECT_THAT(config_template_for(file), HasSubstr("# left out: \"time\" (row numbers)"));
  const auto halves = [](std::size_t i) { return std::to_string(i / 2) + (i % 2 ? ".5" : ".0"); };
  EXPECT_EQ(format_of(table_of("time,a,b", 300, halves)), "");
  const auto uneven = [](std::size_t i) { return std::to_string(i * i) + ".25"; };
  EXPECT_EQ(format_of(table_of("time,a,b", 300, uneven)), "%s");
  const auto micro = [](std::size_t i) { return std::to_string(1704067200000000 + 1000000 * i); };
  EXPECT_THAT(
      message_of<DataError>([&] { config_template_for(table_of("timestamp,a,b", 300, micro)); }),
      HasSubstr("column \"timestamp\": 1704067499000000 looks like microseconds"));
}

/// Readings of several sensors in one table, each sensor at separate seconds.
TEST_F(StarterTables, ReadingsAreNoMixture) {
  const auto log = [&](const char* header, const auto& time, const auto& sensor) {
    return config_for(write("log.csv", table(header, 400, [&](std::size_t i) {
                              const std::size_t which = i * i % 7 % 3;
                              const double second = 60 * double(i) + double(i * i % 23);
                              return time(1.7e9 + second) + "," + sensor(which) + "," +
                                     std::to_string(100 * which + i % 4);
                            })));
  };
  const auto date = [](double time) { return format_time(time); };
  const auto since_1970 = [](double time) { return std::to_string(std::llround(time)); };
  const auto named = [](std::size_t i) { return std::string(i == 0 ? "pump" : "boiler"); };
  const auto numbered = [](std::size_t i) { return std::to_string(i + 1); };
  const Config config = log("timestamp,sensor,value", date, named);
  EXPECT_THAT(config.text_list("data.series"), ElementsAre("sensor"));
  EXPECT_THAT(config.text_list("data.columns"), ElementsAre("value"));
  EXPECT_TRUE(config.flag("data.stamps"));
  for (const char* header : {"timestamp,sensor_id,value", "timestamp,nr,value"}) {
    EXPECT_THAT(log(header, date, numbered).text_list("data.series"), testing::SizeIs(1));
    EXPECT_THAT(log(header, since_1970, numbered).text_list("data.series"), testing::SizeIs(1));
  }
  const auto one = [](std::size_t) { return std::string("pump"); };
  EXPECT_THAT(log("timestamp,sensor,value", date, one).text_list("data.series"), IsEmpty());
}

/// Sensors one after the other: times of the whole table decrease.
TEST_F(StarterTables, BlocksOfReadingsAreSeries) {
  const auto file = write("log.csv", table("when,what,value", 300, [&](std::size_t i) {
                            const std::size_t row = i % 100;
                            return format_time(1.7e9 + 3600 * double(row) + double(i / 100)) +
                                   ",ab" + std::string(1 + i / 100, 'c') + "," +
                                   std::to_string(row % 9);
                          }));
  EXPECT_THAT(config_for(file).text_list("data.series"), ElementsAre("what"));
}

/// A label of days does not identify series, nor does a state of a smooth series.
TEST_F(StarterTables, StatesAreNoSeries) {
  const auto state = [&](double unevenness) {
    return write("s.csv", table("when,state,value", 300, [&](std::size_t i) {
                   return format_time(1.7e9 + 3600 * double(i) + unevenness * double(i * i % 23)) +
                          (i % 3 ? ",ok," : ",warm,") + std::to_string(50 + i % 40);
                 }));
  };
  for (const double unevenness : {0.0, 100.0})
    EXPECT_THAT(config_for(state(unevenness)).text_list("data.series"), IsEmpty());
}

TEST_F(StarterTables, SaysWhatIsLeftOut) {
  const auto row = [](std::size_t i) {
    return std::to_string(i) + "," + day(i) + "," + std::to_string(i % 7) + ",,a word," +
           day(i + 9);
  };
  const auto file = write("a.csv", table(",date,load,gap,note,due", 120, row));
  EXPECT_THAT(config_for(file).text_list("data.columns"), ElementsAre("load"));
  EXPECT_THAT(
      config_template_for(file),
      HasSubstr(
          "\n# left out: \"1\" (row numbers), \"gap\" (empty at the start), \"note\" (texts), "
          "\"due\" (dates)\n"));
  const auto cars = [](std::size_t i) {
    return std::to_string(i) + "," + std::to_string(i * i % 17) + "," + std::to_string(i % 5);
  };
  const Config config = config_for(write("cars.csv", table(",weight,price", 50, cars)));
  EXPECT_THAT(config.text_list("data.inputs"), ElementsAre("weight"));
  const auto plain = write("b.csv", table("date,load", 120, [](std::size_t i) {
                             return day(i) + "," + std::to_string(i % 7);
                           }));
  EXPECT_THAT(config_template_for(plain), Not(HasSubstr("left out")));
}

TEST_F(StarterTables, NorthAmericaIsARegion) {
  const auto file = write("na.csv", table("date,region,qty", 300, [](std::size_t i) {
                            return day(i % 100) + "," +
                                   (i < 100   ? "EU"
                                    : i < 200 ? "NA"
                                              : "APAC") +
                                   "," + std::to_string(i % 7);
                          }));
  EXPECT_THAT(config_for(file).text_list("data.series"), ElementsAre("region"));
  EXPECT_THAT(make_task(config_for(file))->learner().series(), ElementsAre("EU", "NA", "APAC"));
}

TEST_F(StarterTables, EndingsMayBeOfCapitals) {
  const auto text =
      table("date,load", 120, [](std::size_t i) { return day(i) + "," + std::to_string(i % 7); });
  EXPECT_EQ(config_for(write("H.CSV", text)).text("model.kind"), "forecaster");
  EXPECT_FALSE(is_data(write("A.TOML", "")));
}

}  // namespace table_templates_test
}  // namespace bochner
