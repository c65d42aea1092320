#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>

#include "data/messages.hpp"
#include "train/tasks/config_templates/template_fixture.hpp"

namespace bochner {
namespace template_request_test {

using namespace template_fixture;
using testing::ElementsAre;
using testing::HasSubstr;

class Requests : public Starter {
 protected:
  Config asked(const std::filesystem::path& data, const TemplateRequest& request) {
    const Config config = read_config_text(config_template_for(data, {}, request), "begun", {});
    make_task(config);
    return config;
  }
  std::string refused(const std::filesystem::path& data, const TemplateRequest& request) {
    return message_of<std::invalid_argument>([&] { config_template_for(data, {}, request); });
  }
  std::string unusable(const std::filesystem::path& data, const TemplateRequest& request) {
    return message_of<DataError>([&] { config_template_for(data, {}, request); });
  }
  std::filesystem::path sales() {
    return write("sales.csv", table("day,shop,load,price,note", 120, [](std::size_t i) {
                   return day(i / 2) + (i % 2 ? ",7," : ",4,") + std::to_string(i * i % 19) + "," +
                          std::to_string(50 + i * i % 23) + (i % 3 ? ",good" : ",bad");
                 }));
  }
};

TEST_F(Requests, ATargetIsForecastAlone) {
  const Config config = asked(sales(), {.target = "LOAD"});
  EXPECT_EQ(config.text("model.kind"), "ensemble");
  EXPECT_THAT(config.text_list("data.columns"), ElementsAre("load"));
  EXPECT_THAT(config_template_for(sales(), {}, {.target = "load"}),
              HasSubstr("\"price\" (not the target)"));
}

TEST_F(Requests, AHorizonAndAnIdAreThoseOfSeries) {
  const Config config = asked(sales(), {.id = "shop", .horizon = 3});
  EXPECT_EQ(config.count("data.horizon"), 3u);
  EXPECT_THAT(config.text_list("data.series"), ElementsAre("shop"));
  EXPECT_THAT(refused(sales(), {.horizon = 60}),
              HasSubstr("--horizon 60: must be less than the 60 rows of a series"));
  EXPECT_THAT(unusable(sales(), {.kind = "forecaster", .id = "note"}),
              HasSubstr("--id note: column \"day\" does not increase within each"));
}

/// The same table for each kind.
TEST_F(Requests, AKindWinsOverTheInferredOne) {
  const Config gp = asked(sales(), {.kind = "gp", .target = "load"});
  EXPECT_EQ(gp.text("model.kind"), "gp");
  EXPECT_EQ(gp.text("data.target"), "load");
  EXPECT_THAT(gp.text_list("data.inputs"), ElementsAre("shop", "price"));
  EXPECT_EQ(asked(sales(), {.kind = "regressor"}).text("data.target"), "price");
  const Config events = asked(sales(), {.kind = "events", .target = "note", .id = "shop"});
  EXPECT_EQ(events.text("data.type_column"), "note");
  EXPECT_EQ(events.text("data.sequence_column"), "shop");
  EXPECT_EQ(events.text("data.time_column"), "day");
  EXPECT_EQ(asked(sales(), {.kind = "text"}).text("model.kind"), "lm");
}

TEST_F(Requests, ATimeIsTheOnlyOne) {
  const auto file = write("two.csv", table("made,sold,load", 60, [](std::size_t i) {
                            return day(i) + "," + day(i + 40) + "," + std::to_string(i * i % 19);
                          }));
  EXPECT_EQ(config_for(file).text("data.time_column"), "made");
  EXPECT_EQ(asked(file, {.time = "sold"}).text("data.time_column"), "sold");
  const auto clock =
      write("clock.csv", table("when,beat,load", 60, [](std::size_t i) {
              return day(i) + "," + std::to_string(i * i) + "," + std::to_string(i * i % 19);
            }));
  EXPECT_EQ(asked(clock, {.time = "beat"}).text("data.time_column"), "beat");
  EXPECT_THAT(unusable(clock, {.time = "load"}), HasSubstr("increase neither in the table nor"));
  EXPECT_THAT(unusable(sales(), {.time = "note"}), HasSubstr("--time note: holds no times"));
}

TEST_F(Requests, ALabelMayHaveAnyName) {
  const auto file = write("mails.csv", table("text,folder", 40, [](std::size_t i) {
                            return i % 2 ? "buy this,spam" : "see you,mail";
                          }));
  const Config config = asked(file, {.target = "folder"});
  EXPECT_EQ(config.text("model.kind"), "bag_of_words");
  EXPECT_EQ(config.text("data.label_column"), "folder");
}

TEST_F(Requests, SayWhatCannotBe) {
  EXPECT_THAT(refused(sales(), {.target = "lod"}),
              HasSubstr("--target lod: " + sales().string() +
                        " has no such column (did you mean load?); there are \"day\", \"shop\""));
  EXPECT_THAT(refused(sales(), {.kind = "tree"}),
              HasSubstr("--as tree: must be one of forecaster"));
  EXPECT_THAT(refused(sales(), {.kind = "gp", .id = "shop"}),
              HasSubstr("--id has no effect on a gp of"));
  EXPECT_EQ(asked(sales(), {.kind = "classifier"}).text("data.target"), "note");
  EXPECT_THAT(unusable(sales(), {.kind = "gp", .target = "note"}),
              HasSubstr("--target note: holds no numbers; there are shop, load, price"));
  const auto text = write("a.txt", "to be or not to be, that is the question\n");
  EXPECT_THAT(refused(text, {.kind = "text", .horizon = 4}), HasSubstr("--horizon has no effect"));
}

/// What is asked as text is read as bytes, whatever its name.
TEST_F(Requests, ATextMayHaveAnyName) {
  const auto file = write("a.json", std::string(500, '{'));
  EXPECT_THAT(unusable(file, {}), HasSubstr("is a file of JSON"));
  EXPECT_EQ(asked(file, {.kind = "lm"}).text("model.kind"), "lm");
}

}  // namespace template_request_test
}  // namespace bochner
