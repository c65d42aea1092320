#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv_numbers.hpp>
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
  /// Returns the error for a table of days and these cells.
  std::string problem(const std::string& header,
                      const std::function<std::string(std::size_t)>& cells) {
    const auto file =
        write("p.csv", table(header, 200, [&](std::size_t i) { return day(i) + ";" + cells(i); }));
    return message_of<DataError>([&] { config_template_for(file); });
  }
  /// Returns rows that begin with these texts.
  std::filesystem::path table_of(const std::string& header, std::size_t rows,
                                 const std::function<std::string(std::size_t)>& time) {
    return write("a.csv", table(header, rows, [&](std::size_t i) {
                   return time(i) + "," + std::to_string(i % 7) + "," + std::to_string(i % 5);
                 }));
  }
  /// Returns the time format of series of two columns.
  std::string format_of(const std::filesystem::path& file) {
    const Config config = config_for(file);
    EXPECT_EQ(config.text("data.kind"), "series");
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
    EXPECT_EQ(config_for(file).count("data.pause"), 0u) << format;
  }
  const auto year = [](std::size_t i) { return std::to_string(1400 + i); };
  EXPECT_EQ(format_of(table_of("date,a,b", 300, year)), "%Y");
  const auto unix_hours = [](std::size_t i) { return std::to_string(1704067200 + 3600 * i); };
  EXPECT_EQ(format_of(table_of("time,a,b", 300, unix_hours)), "%s");
}

TEST_F(StarterTables, CompactDatesNeedNoName) {
  const auto time = [](std::size_t i) { return compact(1.7040672e9 + 86400 * double(i), 8); };
  EXPECT_EQ(format_of(table_of("Stichtag,a,b", 300, time)), "%Y%m%d");
}

TEST_F(StarterTables, UsualDatesAreDates) {
  const auto day_first = [](std::size_t i) {
    const std::string iso = day(i);
    return iso.substr(8, 2) + "-" + iso.substr(5, 2) + "-" + iso.substr(0, 4);
  };
  const auto month_first = [](std::size_t i) {
    constexpr const char* names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::string iso = day(i);
    return "\"" + std::string(names[std::stoul(iso.substr(5, 2)) - 1]) + " " + iso.substr(8, 2) +
           ", " + iso.substr(0, 4) + "\"";
  };
  for (const char* header : {"ds,a,b", "time,a,b", "date,a,b", "timestamp,a,b", "x,a,b"})
    for (const auto& date :
         std::vector<std::function<std::string(std::size_t)>>{day_first, month_first}) {
      const auto with_gap = [&](std::size_t i) { return date(i < 100 ? i : i + 3); };
      const auto file = table_of(header, 300, with_gap);
      EXPECT_EQ(config_for(file).text("model.kind"), "ensemble") << header;
      EXPECT_THAT(config_template_for(file), Not(HasSubstr("left out"))) << header;
      Config config = config_for(file);
      apply_set(config, "data.pause=1");
      EXPECT_THAT(make_task(config)->data().words(), HasSubstr("each 1 day, 1 gap")) << header;
    }
}

/// Each day from 1 to 9 may be a month, and no format reads half-years.
TEST_F(StarterTables, RefusesDatesThatItCannotRead) {
  const auto problem = [&](const std::string& header, const auto& date) {
    return message_of<DataError>([&] { config_template_for(table_of(header, 300, date)); });
  };
  for (const char* header : {"ds,a,b", "x,a,b"})
    EXPECT_THAT(
        problem(header, [](std::size_t i) { return "0" + std::to_string(1 + i % 9) + "-02-2024"; }),
        HasSubstr("may be a time as %d-%m-%Y or %m-%d-%Y; set one, as in --set data.time_format="));
  for (const char* header : {"ds,a,b", "time,a,b"})
    EXPECT_THAT(problem(header, [](std::size_t i) { return "H1 " + std::to_string(1400 + i); }),
                HasSubstr("is not in a known date format"));
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

/// Numbers count up within each series: counters, Unix seconds, dates without marks.
TEST_F(StarterTables, NumbersAreTimesOfSeveralSeries) {
  const auto number_of = [](const char* kind, std::size_t row) {
    const std::string kinds = kind;
    if (kinds == "unix") return std::to_string(1700000000 + 3600 * row);
    return kinds == "count" ? std::to_string(row + 1)
                            : compact(1.7040672e9 + 86400 * double(row), 8);
  };
  const auto long_table = [&](const char* header, const char* kind, bool in_blocks,
                              const char* prefix) {
    return config_for(write("long.csv", table(header, 300, [&](std::size_t i) {
                              const std::size_t row = in_blocks ? i % 100 : i / 3;
                              return prefix + std::to_string(1 + (in_blocks ? i / 100 : i % 3)) +
                                     "," + number_of(kind, row) + "," + std::to_string(i % 7);
                            })));
  };
  for (const auto& [kind, format] : {std::pair{"count", "%s"}, {"unix", "%s"}, {"ymd", "%Y%m%d"}})
    for (const bool in_blocks : {true, false})
      for (const char* prefix : {"H", ""}) {
        const Config config = long_table("unique_id,ds,y", kind, in_blocks, prefix);
        EXPECT_EQ(config.text("model.kind"), "ensemble") << kind;
        EXPECT_THAT(config.text_list("data.series"), ElementsAre("unique_id"));
        EXPECT_THAT(config.text_list("data.columns"), ElementsAre("y"));
        EXPECT_EQ(config.text("data.time_column"), "ds");
        EXPECT_EQ(config.text("data.time_format"), format);
      }
  for (const char* kind : {"count", "unix", "ymd"})
    EXPECT_THAT(long_table("shop,nr,y", kind, true, "H").text_list("data.series"),
                ElementsAre("shop"));
}

/// Steps of an experiment are not times, nor are widths within a species.
TEST_F(StarterTables, GroupsAreNoSeries) {
  const auto kind_of = [&](const char* header, const auto& row) {
    return config_for(write("g.csv", table(header, 300, row))).text("data.kind");
  };
  const auto with = [](const char* group, std::size_t number, std::size_t i) {
    return group + std::to_string(i / 100) + "," + std::to_string(number) + "," +
           std::to_string(i % 7);
  };
  EXPECT_EQ(kind_of("material,heat,strength",
                    [&](std::size_t i) { return with("m", 20 * (i % 100), i); }),
            "table");
  EXPECT_EQ(kind_of("site,width,length", [&](std::size_t i) { return with("s", i * i % 97, i); }),
            "table");
  EXPECT_EQ(kind_of("group,width,length", [&](std::size_t i) { return with("", i % 100, i); }),
            "table");
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

/// A few loads that repeat every week; each 25th of them is another text.
std::string load_or(std::size_t i, const std::string& other) {
  return i % 25 == 7 ? other : std::to_string(100 + i % 7) + ".5";
}

TEST_F(StarterTables, MarksOfMissingNumbersLeaveAColumnOfNumbers) {
  for (const char* mark : {"None", "-", "?", ".", "#N/A", "N/A", "NA", "missing", "null"}) {
    const auto file = write("m.csv", table("time,load", 200, [&](std::size_t i) {
                              return day(i) + "," + load_or(i, mark);
                            }));
    const std::string text = config_template_for(file);
    EXPECT_THAT(text, HasSubstr("kind = \"ensemble\"")) << mark;
    if (!is_missing(mark)) {
      EXPECT_THAT(text, HasSubstr("# missing values: \"load\" (\"" + std::string(mark) +
                                  "\" in 8 of the first 199 rows)\n"));
    }
    EXPECT_EQ(config_for(file).text("data.missing"), "forward") << mark;
  }
  const auto of_stores =
      write("s.csv", table("time,store,sales", 400, [](std::size_t i) {
              return day(i % 200) + (i < 200 ? ",a," : ",b,") + load_or(i % 200, "None");
            }));
  EXPECT_THAT(config_template_for(of_stores), HasSubstr("series = [\"store\"]"));
  EXPECT_THAT(config_template_for(of_stores), HasSubstr("columns = [\"sales\"]"));
}

TEST_F(StarterTables, OtherTextsAmongNumbersAreErrors) {
  for (const char* other : {"inf", "-inf", "n.a.", "--", "x", "12 W"})
    EXPECT_THAT(
        problem("time;load;temp",
                [&](std::size_t i) { return load_or(i, other) + ";" + std::to_string(i % 9); }),
        HasSubstr("p.csv: column \"load\": row 184 has \"" + std::string(other) +
                  "\" where other rows have numbers"));
  const auto often = [](std::size_t i) { return i % 7 == 3 ? "inf" : load_or(i, "1"); };
  EXPECT_THAT(problem("time;load", often), HasSubstr("has \"inf\" where other rows have numbers"));
  const auto file = write("d.csv", table("date,load", 200, [](std::size_t i) {
                            return (i % 20 == 7 ? "None" : day(i)) + "," + std::to_string(i % 7);
                          }));
  EXPECT_THAT(message_of<DataError>([&] { config_template_for(file); }),
              HasSubstr("column \"date\": row 189 has \"None\" where other rows have dates"));
}

TEST_F(StarterTables, NamesMayBeMostlyNumbers) {
  const auto file = write("n.csv", table("date;user;qty", 200, [](std::size_t i) {
                            return day(i % 50) + ";" + (i < 190 ? std::to_string(i / 50) : "A") +
                                   ";" + std::to_string(i % 7);
                          }));
  EXPECT_THAT(config_for(file).text_list("data.series"), ElementsAre("user"));
}

TEST_F(StarterTables, MarksBetweenThousandsLeaveNumbers) {
  const auto grouped = [](std::size_t n, const char* mark) {
    const std::string digits = std::to_string(n);
    return n < 1000 ? digits
                    : digits.substr(0, digits.size() - 3) + mark + digits.substr(digits.size() - 3);
  };
  for (const char* mark : {" ", "_", "\u00a0", "\u2009", "\u202f"})
    EXPECT_THAT(config_for(write("g.csv", table("date;y", 200,
                                                [&](std::size_t i) {
                                                  return day(i) + ";" + grouped(900 + 17 * i, mark);
                                                })))
                    .text("model.kind"),
                "ensemble")
        << mark;
  const auto lakh = [&](std::size_t i) {
    return day(i) + ";" + std::to_string(1 + i % 9) + "," + std::to_string(10 + i % 80) + ",932";
  };
  EXPECT_EQ(config_for(write("l.csv", table("date;y", 200, lakh))).text("model.kind"), "ensemble");
}

TEST_F(StarterTables, CodesAreNoTypes) {
  const auto code = [](std::size_t i) { return "2x" + std::to_string(100 + i); };
  EXPECT_THAT(problem("date;y", code),
              HasSubstr("p.csv: column \"y\": row 200 has \"2x298\", which is not a number; "
                        "nearly all rows have different texts"));
  const auto file = write("c.csv", table("date;code;what", 200, [&](std::size_t i) {
                            return day(i) + ";" + code(i) + (i % 3 ? ";buy" : ";view");
                          }));
  EXPECT_EQ(config_for(file).text("data.type_column"), "what");
}

TEST_F(StarterTables, HeadersOfPandasAreHeaders) {
  const auto loads = [](std::size_t i) { return std::to_string(20 + i * i % 7) + ".25"; };
  const auto indexed = write(
      "i.csv", table(",0", 200, [&](std::size_t i) { return std::to_string(i) + "," + loads(i); }));
  EXPECT_THAT(config_for(indexed).text_list("data.columns"), ElementsAre("0"));
  const auto dated =
      write("d.csv", table(",0", 200, [&](std::size_t i) { return day(i) + "," + loads(i); }));
  EXPECT_EQ(make_task(config_for(dated))->data().examples(Split::validation),
            make_task(config_for(write(
                          "e.csv", table("date,load", 200,
                                         [&](std::size_t i) { return day(i) + "," + loads(i); }))))
                ->data()
                .examples(Split::validation));
  const auto counted = write(
      "n.csv", table("0,1", 200, [&](std::size_t i) { return loads(i) + "," + loads(i + 1); }));
  EXPECT_THAT(message_of<DataError>([&] { config_template_for(counted); }),
              HasSubstr("n.csv:1:1: the first row (\"0\", \"1\") may name the columns or hold "
                        "numbers: set data.header"));
  EXPECT_THAT(config_template_for(counted, {.header = "yes"}), HasSubstr("target = \"1\""));
  EXPECT_THAT(config_template_for(counted, {.header = "no"}), HasSubstr("ensemble"));
}

TEST_F(StarterTables, EndingsMayBeOfCapitals) {
  const auto text =
      table("date,load", 120, [](std::size_t i) { return day(i) + "," + std::to_string(i % 7); });
  EXPECT_EQ(config_for(write("H.CSV", text)).text("model.kind"), "ensemble");
  EXPECT_FALSE(is_data(write("A.TOML", "")));
}

}  // namespace table_templates_test
}  // namespace bochner
