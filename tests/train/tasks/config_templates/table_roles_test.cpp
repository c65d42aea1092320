#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/tasks/config_templates/table_roles.hpp>

#include "data/messages.hpp"
#include "train/tasks/config_templates/template_fixture.hpp"

namespace bochner {
namespace table_roles_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace template_fixture;

class TableRolesTest : public Starter {
 protected:
  Config config_of(const std::string& header, const auto& row, std::size_t rows = 60) {
    return config_for(write("t.csv", table(header, rows, row)));
  }
};

std::string number(std::size_t i) { return std::to_string(i * i % 97) + ".5"; }

TEST_F(TableRolesTest, TargetsAreNamedOrLast) {
  const auto three = [](std::size_t i) {
    return number(i) + "," + number(i + 1) + "," + number(i + 2);
  };
  const auto target = [&](const char* header) {
    return config_of(header, three).text("data.target");
  };
  EXPECT_EQ(target("a,b,c"), "c");
  EXPECT_EQ(target("a,Target,c"), "Target");
  EXPECT_EQ(target("PRICE,b,c"), "PRICE");
  EXPECT_EQ(target("x,y,c"), "c") << "coordinates";
  EXPECT_THAT(config_template_for(write("t.csv", table("a,b,c", 60, three))),
              HasSubstr("target = \"c\"   # the last column of numbers or classes\n"));
}

TEST_F(TableRolesTest, TheTargetAndTheKindAskedForWin) {
  const auto file = write("t.csv", table("a,price,c", 60, [](std::size_t i) {
                            return number(i) + "," + std::to_string(i % 3) + "," + number(i + 2);
                          }));
  const auto asked = [&](const TemplateRequest& request) {
    return parse_config(config_template_for(file, {}, request), "t", registered_parameters());
  };
  EXPECT_EQ(asked({.target = "a"}).text("data.target"), "a");
  EXPECT_THAT(asked({.target = "a"}).text_list("data.inputs"), ElementsAre("price", "c"));
  EXPECT_THAT(asked({}).text_list("data.categories"), ElementsAre("price"));
  EXPECT_THAT(asked({.kind = "regressor"}).text_list("data.categories"), IsEmpty());
  EXPECT_EQ(asked({.kind = "gp"}).text("model.kind"), "gp");
  EXPECT_THAT(message_of<DataError>([&] { asked({.kind = "classifier", .target = "a"}); }),
              HasSubstr("holds numbers, which are no classes; ask for --as regressor"));
}

TEST_F(TableRolesTest, FewTextsAndWholeNumbersAreClasses) {
  const auto with = [&](const char* header, const auto& label) {
    return config_of(
               header,
               [&](std::size_t i) { return number(i) + "," + number(i + 1) + "," + label(i); })
        .text_list("data.categories");
  };
  const auto text = [](std::size_t i) -> std::string { return i % 2 ? "a" : "b"; };
  EXPECT_THAT(with("u,v,kind", text), ElementsAre("kind"));
  EXPECT_THAT(with("u,v,grade", [](std::size_t i) { return std::to_string(i % 3); }),
              ElementsAre("grade"));
  EXPECT_THAT(with("u,v,count", [](std::size_t i) { return std::to_string(i * i % 31); }),
              IsEmpty());
  EXPECT_THAT(with("u,v,part", [](std::size_t i) { return std::to_string(i % 3) + ".5"; }),
              IsEmpty());
}

TEST_F(TableRolesTest, InputsOfFewTextsAreCategories) {
  const Config config = config_of("Id,species,note,size,y", [](std::size_t i) {
    return std::to_string(i + 1) + (i % 2 ? ",a," : ",b,") + "n" + std::to_string(i) + "x," +
           number(i) + "," + number(i + 3);
  });
  EXPECT_EQ(config.text("data.target"), "y");
  EXPECT_THAT(config.text_list("data.inputs"), ElementsAre("species", "size"));
  EXPECT_THAT(config.text_list("data.categories"), ElementsAre("species"));
}

TEST_F(TableRolesTest, ATableWithoutHeaderHasClassesInItsLastColumn) {
  std::string text;
  for (std::size_t i = 0; i < 60; ++i)
    text += number(i) + "," + number(i + 1) + (i % 2 ? ",a\n" : ",b\n");
  const Config config = config_for(write("iris.data", text));
  EXPECT_EQ(config.text("data.kind"), "table");
  EXPECT_THAT(config.text_list("data.categories"), ElementsAre("3"));
}

TEST_F(TableRolesTest, SortedClassesAreNoSeries) {
  const Config config = config_of("rownames,size,weight,Species", [](std::size_t i) {
    return std::to_string(i + 1) + "," + number(i) + "," + number(i + 1) + (i < 30 ? ",a" : ",b");
  });
  EXPECT_EQ(config.text("data.kind"), "table");
  EXPECT_THAT(config.text_list("data.inputs"), ElementsAre("size", "weight"));
}

TEST_F(TableRolesTest, MissingCellsAreLearned) {
  const Config config = config_of("size,rooms,price", [](std::size_t i) {
    return (i % 5 ? number(i) : "") + "," + number(i + 1) + "," + number(i + 2);
  });
  EXPECT_THAT(config.text_list("data.inputs"), ElementsAre("size", "rooms"));
}

TEST_F(TableRolesTest, RefusesAConstantTarget) {
  EXPECT_THAT(message_of<DataError>([&] {
                config_template_for(write("c.csv", table("a,b,price", 60, [](std::size_t i) {
                                            return number(i) + "," + number(i + 1) + ",7";
                                          })));
              }),
              HasSubstr("is constant: there is nothing to predict"));
}

}  // namespace table_roles_test
}  // namespace bochner
