#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/tables/mixed_table.hpp>
#include <cmath>

#include "data/messages.hpp"

namespace bochner {
namespace mixed_table_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> categories = {"colour", "kind"};

NamedArray csv_of(const std::string& text) {
  return parse_csv(text, "t.csv", {.texts = categories, .missing = "nan"});
}
MixedTable table_of(const std::string& text) {
  return mixed_table(csv_of(text), {.categories = categories});
}

const char* fruit = "colour,size,kind\nred,1,apple\ngreen,NA,pear\n,4,apple\n";

TEST(MixedTable, SortsCategories) {
  const MixedTable table = table_of(fruit);
  EXPECT_THAT(table.inputs[0].categories, ElementsAre("green", "red"));
  EXPECT_TRUE(std::isnan(table.inputs[0].values[2]));
  EXPECT_THAT(table.inputs[1].categories, IsEmpty());
  EXPECT_THAT(table.target.values, ElementsAre(0, 1, 0));
  EXPECT_THAT(table_of("size,kind\n1,10\n2,9\n3,10\n").target.categories, ElementsAre("9", "10"));
}

TEST(MixedTable, EncodesCategoriesAndMissingNumbers) {
  const MixedTable table = table_of(fruit);
  const EncodedInputs encoded = encoded_inputs(table, table);
  EXPECT_THAT(encoded.names,
              ElementsAre("colour = green", "colour = red", "size", "size is missing"));
  EXPECT_THAT(encoded.groups, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(encoded.values[0], ElementsAre(0, 1, 0));
  EXPECT_THAT(encoded.values[1], ElementsAre(1, 0, 0));
  EXPECT_THAT(encoded.values[2], ElementsAre(1, 2.5, 4));
  EXPECT_THAT(encoded.values[3], ElementsAre(0, 1, 0));
}

TEST(MixedTable, EncodesOtherRowsLikeTheKnown) {
  std::vector<std::string> notes;
  const EncodedInputs encoded =
      encoded_inputs(csv_of("size,colour\n,red\n3,blue\n"), table_of(fruit), notes);
  EXPECT_THAT(encoded.values[1], ElementsAre(1, 0));
  EXPECT_THAT(encoded.values[2], ElementsAre(2.5, 3));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("has not seen, and takes as missing: blue")));
  EXPECT_THAT(message_of<DataError>([&] {
                std::vector<std::string> none;
                encoded_inputs(csv_of("colour\nred\n"), table_of(fruit), none);
              }),
              HasSubstr("no column \"size\""));
}

TEST(MixedTable, AppendsRowsWithOtherCategories) {
  MixedTable table = table_of(fruit);
  append(table, table_of("colour,size,kind\nblue,2,fig\n"));
  EXPECT_THAT(table.inputs[0].categories, ElementsAre("blue", "green", "red"));
  EXPECT_THAT(table.target.categories, ElementsAre("apple", "fig", "pear"));
  EXPECT_THAT(table.target.values, ElementsAre(0, 2, 0, 1));
  EXPECT_THAT(table.chosen({3, 0}).inputs[1].values, ElementsAre(2, 1));
  EXPECT_THROW(append(table, table_of("colour,weight,kind\nblue,2,fig\n")), DataError);
}

TEST(MixedTable, RefusesTextsThatAreNoCategories) {
  const NamedArray array = parse_csv("name,y\nann,1\nbob,2\n", "t.csv", {.texts = {"name"}});
  EXPECT_THAT(message_of<DataError>([&] { mixed_table(array, {}); }),
              HasSubstr("column \"name\" holds texts; name it in data.categories"));
}

}  // namespace mixed_table_test
}  // namespace bochner
