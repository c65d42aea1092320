#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>

#include "train/tasks/config_templates/template_fixture.hpp"

namespace bochner {
namespace event_columns_test {

using namespace template_fixture;

using testing::HasSubstr;

class EventColumnsTest : public Starter {};

TEST_F(EventColumnsTest, FindsEventsWithoutTypes) {
  const auto stamp = [](std::size_t i) { return std::to_string(1700000000 + 50 * i + i * i % 37); };
  Config config = config_for(write("a.csv", table("time", 200, stamp)));
  EXPECT_EQ(config.text("model.kind"), "events");
  EXPECT_EQ(config.text("data.type_column"), "");
  EXPECT_EQ(config.text("data.time_format"), "%s");
  const auto visit = [&](std::size_t i) { return "u" + std::to_string(i % 7) + "," + stamp(i); };
  config = config_for(write("b.csv", table("user_id,timestamp", 200, visit)));
  EXPECT_EQ(config.text("data.type_column"), "");
  EXPECT_EQ(config.text("data.sequence_column"), "user_id");
  const auto bought = [](std::size_t i) {
    return std::to_string(i / 4) + ",1997010" + std::to_string(1 + i % 4 * 2 + (i % 3 == 0)) + "," +
           std::to_string(i * i % 50);
  };
  config = config_for(write("c.csv", table("customer_id,date,value", 200, bought)));
  EXPECT_EQ(config.text("data.sequence_column"), "customer_id");
  EXPECT_EQ(config.text("data.time_format"), "%Y%m%d");
  const auto regular = [](std::size_t i) { return std::to_string(1700000000 + 60 * i); };
  EXPECT_THAT(message_of<DataError>(
                  [&] { config_template_for(write("d.csv", table("time", 200, regular))); }),
              HasSubstr("has no column of numbers to learn"));
}

TEST_F(EventColumnsTest, TakesNoSumForAnEvent) {
  const auto row = [](std::size_t i) {
    return "u" + std::to_string(i % 3) + "," + std::to_string(1700000000 + 50 * i + i * i % 37) +
           (i % 2 ? ",in" : ",out");
  };
  const auto file = write("a.csv", table("user,time,type", 100, row) + "Total,500,500\n");
  EXPECT_THAT(message_of<DataError>([&] { config_template_for(file); }),
              HasSubstr("column \"time\": the last row has 500 where the others have seconds since "
                        "1970; remove this row if it is a sum"));
}

}  // namespace event_columns_test
}  // namespace bochner
