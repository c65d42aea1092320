#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>

#include "train/tasks/config_templates/template_fixture.hpp"

namespace bochner {
namespace text_columns_test {

using namespace template_fixture;

class TextColumnsTest : public Starter {};

TEST_F(TextColumnsTest, FindsTextsAndLabelsByTheirValues) {
  const auto columns_of = [&](const std::string& header, const auto& row) {
    const Config config = config_for(write("a.csv", table(header, 60, row)));
    EXPECT_EQ(config.text("model.kind"), "bag_of_words") << header;
    return config.text("data.text_column") + " " + config.text("data.label_column");
  };
  const auto number = [](std::size_t i) { return std::to_string(i * 7919 % 61); };
  const auto text = [&](std::size_t i) { return "go to " + number(i) + (i % 2 ? " now" : " ok"); };
  EXPECT_EQ(
      columns_of("v1,v2", [&](std::size_t i) { return (i % 2 ? "spam," : "ham,") + text(i); }),
      "v2 v1");
  EXPECT_EQ(columns_of("id,words,stars",
                       [&](std::size_t i) {
                         return std::to_string(i) + "," + text(i) + "," + std::to_string(1 + i % 5);
                       }),
            "words stars");
  EXPECT_EQ(columns_of("price,headline,author,section",
                       [&](std::size_t i) {
                         return std::to_string(i * i % 97) + "," + text(i) + ",a" +
                                std::to_string(i % 3) + ",s" + std::to_string(i % 4);
                       }),
            "headline section");
  const auto product = [&](std::size_t i) {
    return text(i) + ",k" + std::to_string(i % 3) + "," + std::to_string(i * i % 97);
  };
  EXPECT_NE(config_for(write("b.csv", table("name,kind,price", 60, product))).text("model.kind"),
            "bag_of_words");
}

}  // namespace text_columns_test
}  // namespace bochner
