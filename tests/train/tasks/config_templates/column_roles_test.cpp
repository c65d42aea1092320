#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/series/series_windows.hpp>

#include "data/messages.hpp"
#include "train/tasks/config_templates/template_fixture.hpp"

namespace bochner {
namespace column_roles_test {

using namespace template_fixture;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ColumnRoles : public Starter {
 protected:
  std::string load(std::size_t i) { return std::to_string(50 + i * i % 37) + ".5"; }
};

TEST_F(ColumnRoles, UselessColumnsAreNotForecast) {
  const auto row = [&](std::size_t i) {
    return std::to_string(i + 1) + "," + day(i) + "," + load(i) + ",3," +
           std::to_string(1 + i % 7) + "," + std::to_string(i % 3 == 0) + "," +
           std::to_string(1704067200 + 86400 * i);
  };
  const auto file = write("a.csv", table("rownames,date,load,version,weekday,promo,ts", 150, row));
  EXPECT_THAT(config_for(file).text_list("data.columns"), ElementsAre("load"));
  const std::string text = config_template_for(file);
  EXPECT_THAT(text, HasSubstr("# left out: \"rownames\" (row numbers), \"version\" (constant), "
                              "\"weekday\" (part of the date), \"promo\" (few values), \"ts\" "
                              "(times)\n"));
  EXPECT_THAT(text, HasSubstr("# known = [\"promo\"]   # if also known for future rows\n"));
}

/// Few sales are sales, and a table of flags alone has nothing else.
TEST_F(ColumnRoles, SomethingIsForecast) {
  const auto few = [&](std::size_t i) {
    return day(i) + "," + std::to_string(i % 3) + "," + load(i);
  };
  EXPECT_THAT(
      config_for(write("f.csv", table("date,sales,price", 150, few))).text_list("data.columns"),
      IsEmpty());
  const auto flags = [&](std::size_t i) {
    return day(i) + "," + std::to_string(i % 2) + "," + std::to_string(i % 3 == 0);
  };
  EXPECT_THAT(
      config_for(write("g.csv", table("date,on,off", 150, flags))).text_list("data.columns"),
      IsEmpty())
      << "all of them";
}

TEST_F(ColumnRoles, WhatFutureRowsHaveIsKnown) {
  const auto row = [&](std::size_t i) {
    return day(i) + "," + (i < 140 ? load(i) : "") + "," + std::to_string(10 + i % 9);
  };
  const Config config = config_for(write("k.csv", table("date,load,temp", 150, row)));
  EXPECT_THAT(config.text_list("data.columns"), ElementsAre("load"));
  EXPECT_THAT(config.text_list("data.known"), ElementsAre("temp"));
  EXPECT_EQ(config.text("model.kind"), "ensemble");
  EXPECT_GE(config.count("data.horizon"), 10u);
}

TEST_F(ColumnRoles, ConstantsOfSeriesAreNotForecast) {
  const auto row = [&](std::size_t i) {
    return day(i % 100) + (i < 100 ? ",a,50," : ",b,70,") + load(i);
  };
  const auto file = write("s.csv", table("date,store,area,sales", 200, row));
  EXPECT_THAT(config_for(file).text_list("data.columns"), ElementsAre("sales"));
  EXPECT_THAT(config_template_for(file), HasSubstr("\"area\" (constant in each series)\n"));
  EXPECT_THAT(config_template_for(file), HasSubstr("# static = [\"area\"]\n"));
}

/// A column of numbers is no text only because others have another decimal mark.
TEST_F(ColumnRoles, DecimalMarksMustAgree) {
  const auto row = [&](std::size_t i) {
    return day(i) + ";" + load(i) + ";" + std::to_string(i * i % 37) + ",25 kW";
  };
  EXPECT_THAT(
      message_of<DataError>(
          [&] { config_template_for(write("d.csv", table("date;load;power", 90, row))); }),
      HasSubstr("d.csv: column \"power\": \"3,25 kW\" (row 91) has another decimal mark than "
                "other columns; write all numbers with one"));
}

TEST_F(ColumnRoles, RowNumbersAndConstantsAreNoInputs) {
  const auto row = [&](std::size_t i) {
    return std::to_string(i + 1) + "," + load(i) + ",2," + std::to_string(i * i % 17);
  };
  const auto file = write("r.csv", table("rownames,weight,batch,price", 60, row));
  EXPECT_THAT(config_for(file).text_list("data.inputs"), ElementsAre("weight"));
  EXPECT_THAT(config_template_for(file),
              HasSubstr("# left out: \"rownames\" (row numbers), \"batch\" (constant)\n"));
}

TEST_F(ColumnRoles, NumbersMayHaveUnits) {
  const auto with = [&](const std::string& before, const std::string& after) {
    return write("u.csv", table("date;y;temp", 200, [&](std::size_t i) {
                   return day(i) + ";" + before + std::to_string(100 + i % 7) + ".5" +
                          (i % 3 || after != " MWh" ? after : " kWh") + ";" + std::to_string(i % 9);
                 }));
  };
  const std::pair<const char*, const char*> units[] = {{"", " kWh"}, {"", "k"}, {"", " %"},
                                                       {"", " EUR"}, {"€", ""}, {"EUR ", ""}};
  for (const auto& [before, after] : units)
    EXPECT_EQ(config_for(with(before, after)).text("model.kind"), "ensemble") << before << after;
  EXPECT_THAT(message_of<DataError>([&] { config_template_for(with("", " MWh")); }),
              HasSubstr(" MWh\" (row 199) has another unit than other rows, \"kWh\"; write all "
                        "numbers of the column in one unit"));
  const auto sizes =
      write("z.csv", table("date;size;sales", 200, [](std::size_t i) {
              return day(i % 100) + (i < 100 ? ";0.5 l;" : ";1.5 l;") + std::to_string(i % 7);
            }));
  EXPECT_THAT(config_for(sizes).text_list("data.series"), ElementsAre("size"));
}

/// Year and month; year and quarter; dates that repeat and an hour or a time of day.
TEST_F(ColumnRoles, TimesMayHaveParts) {
  const auto whole = [&](const char* header, const char* format, const auto& time) {
    const auto file = write("t.csv", table(header + std::string(",load"), 144,
                                           [&](std::size_t i) { return time(i) + "," + load(i); }));
    const Config config = config_for(file);
    EXPECT_EQ(config.text("data.time_format"), format);
    EXPECT_THAT(config.text_list("data.time_parts"), testing::SizeIs(1)) << header;
    EXPECT_EQ(config.text("model.kind"), "ensemble") << header;
    const auto task = make_task(config);
    return dynamic_cast<const SeriesWindows&>(task->data()).series().time_step().words();
  };
  const auto two = [](std::size_t one, const std::string& other) {
    return std::to_string(one) + "," + other;
  };
  EXPECT_THAT(whole("YEAR,Month", "%Y %m",
                    [&](std::size_t i) { return two(1990 + i / 12, std::to_string(1 + i % 12)); }),
              "1 month");
  EXPECT_THAT(
      whole("year,quarter", "%Y %q",
            [&](std::size_t i) { return two(1960 + i / 4, std::to_string(1 + i % 4) + ".0"); }),
      "3 months");
  EXPECT_THAT(whole("date,hour", "%Y-%m-%d %H",
                    [&](std::size_t i) { return day(i / 24) + "," + std::to_string(i % 24); }),
              "1 hour");
  EXPECT_THAT(whole("date,at", "%Y-%m-%d %H:%M",
                    [&](std::size_t i) {
                      const std::string hour = std::to_string(100 + i % 24).substr(1);
                      return day(i / 24) + "," + hour + ":30";
                    }),
              "1 hour");
}

TEST_F(ColumnRoles, TimesOfEventsHaveNoParts) {
  const auto row = [&](std::size_t i) {
    return day(i / 24) + "," + std::to_string(100 + i % 24).substr(1) +
           (i % 3 ? ":30,buy" : ":30,view");
  };
  EXPECT_THAT(message_of<DataError>([&] {
                config_template_for(write("e.csv", table("date,clock,event", 144, row)));
              }),
              HasSubstr("the times of events are in several columns, \"date\" and others"));
}

/// Year and month of a sale are no times of a table of houses.
TEST_F(ColumnRoles, PartsThatDoNotIncreaseAreNoTimes) {
  const auto row = [&](std::size_t i) {
    return std::to_string(2006 + i * i % 5) + "," + std::to_string(1 + i * i % 12) + "," + load(i);
  };
  EXPECT_EQ(config_for(write("h.csv", table("year,month,price", 100, row))).text("data.kind"),
            "table");
}

}  // namespace column_roles_test
}  // namespace bochner
