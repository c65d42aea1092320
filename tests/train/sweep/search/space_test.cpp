#include <gmock/gmock.h>

#include <bochner/train/sweep/search/space.hpp>
#include <cmath>
#include <stdexcept>

#include "data/messages.hpp"

namespace bochner {
namespace space_test {

using ::testing::ElementsAre;

Space space_of(std::initializer_list<const char*> texts) {
  std::vector<Variation> variations;
  for (const char* text : texts) variations.push_back(parse_variation(text));
  return Space(std::move(variations));
}

TEST(Variation, IsARangeWithAScale) {
  const Variation rate = parse_variation("optim.lr=1e-4..1e-2:log");
  EXPECT_EQ(rate.key, "optim.lr");
  ASSERT_TRUE(rate.range);
  EXPECT_EQ(rate.range->low, 1e-4);
  EXPECT_EQ(rate.range->high, 1e-2);
  EXPECT_TRUE(rate.range->logarithmic);
  EXPECT_FALSE(parse_variation("a=-5..10").range->logarithmic);
  EXPECT_THAT(parse_variation("a=16..64:log2").values, ElementsAre("16", "32", "64"));
  EXPECT_THAT(parse_variation("a=0.25..1.9:log2").values, ElementsAre("0.25", "0.5", "1"));
  EXPECT_THAT(parse_variation("a=../x,../z").values, ElementsAre("../x", "../z"));
}

TEST(Variation, SaysWhatIsWrongWithARange) {
  EXPECT_EQ(message_or_none<std::invalid_argument>([] { parse_variation("a=1..0"); }),
            "--vary a: 1..0: write LOW..HIGH, such as 1e-4..1e-2:log; scales are linear, log and "
            "log2");
  EXPECT_THAT(message_or_none<std::invalid_argument>([] { parse_variation("a=1..2:loq"); }),
              ::testing::HasSubstr("scales are"));
  EXPECT_THAT(message_or_none<std::invalid_argument>([] { parse_variation("a=1..x"); }),
              ::testing::HasSubstr("LOW..HIGH"));
  EXPECT_EQ(message_or_none<std::invalid_argument>([] { parse_variation("a=0..1:log"); }),
            "--vary a: 0..1:log: a logarithmic range begins above 0");
  EXPECT_EQ(message_or_none<std::invalid_argument>([] { parse_variation("a=1e-300..1e300:log2"); }),
            "--vary a: more than 64 doublings");
}

TEST(Variation, HoldsOnACondition) {
  const Variation features = parse_variation("m=16,32 if kind=linear,ssm");
  EXPECT_THAT(features.values, ElementsAre("16", "32"));
  ASSERT_TRUE(features.condition);
  EXPECT_EQ(features.condition->key, "kind");
  EXPECT_THAT(features.condition->values, ElementsAre("linear", "ssm"));
  EXPECT_EQ(message_or_none<std::invalid_argument>([] { space_of({"m=16,32 if kind=linear"}); }),
            "--vary m: if kind: give a --vary of that key with a list of values before this one");
  EXPECT_EQ(message_or_none<std::invalid_argument>([] {
              space_of({"kind=linear,ssm", "m=1,2 if kind=softmax"});
            }),
            "--vary m: if kind=softmax: not one of its values");
  const Variation quoted = parse_variation("a=\"b if c=d\",e if kind=\"x if y=z\"");
  EXPECT_THAT(quoted.values, ElementsAre("\"b if c=d\"", "e"));
  EXPECT_THAT(quoted.condition->values, ElementsAre("\"x if y=z\""));
}

TEST(Space, MapsTheUnitCubeToValues) {
  const Space space =
      space_of({"lr=1e-4..1e-2:log", "kind=linear,ssm", "m=16..64:log2 if kind=linear"});
  EXPECT_THAT(space.at({0, 0.1, 0}), ElementsAre("1e-04", "linear", "16"));
  EXPECT_THAT(space.at({1, 0.1, 0.999}), ElementsAre("0.01", "linear", "64"));
  EXPECT_THAT(space.at({0.5, 0.9, 0.5}), ElementsAre("0.001", "ssm", ""));
  EXPECT_TRUE(space.is_ordered(0) && !space.is_ordered(1) && space.is_ordered(2));
  EXPECT_TRUE(space.is_continuous(0) && !space.is_continuous(1) && !space.is_continuous(2));
  EXPECT_THAT(sets_of(space.variations(), space.at({0, 0.9, 0.5})),
              ElementsAre("lr=1e-04", "kind=ssm"));
}

TEST(Space, PlacesValuesWhereTheyAreFound) {
  const Space space = space_of({"lr=1e-4..1e-2:log", "kind=a,b,c", "m=16..64:log2 if kind=b"});
  for (const double part : {0.01, 0.3, 0.77, 0.99}) {
    const Values values = space.at({part, part, part});
    const std::vector<double> place = space.place(values);
    EXPECT_NEAR(place[0], part, 1e-4);
    EXPECT_EQ(space.at(place), values);
  }
  EXPECT_EQ(space.place({"0.001", "a", ""})[2], 0.5);
}

TEST(Space, PutsNumbersOfAListInTheirOrder) {
  const Space space = space_of({"m=64,8,16", "kind=b,a,c"});
  EXPECT_THAT(space.at({0.1, 0.1}), ElementsAre("8", "b"));
  EXPECT_THAT(space.at({0.9, 0.9}), ElementsAre("64", "c"));
  EXPECT_LT(space.place({"8", "a"})[0], space.place({"64", "a"})[0]);
}

TEST(Space, WholeNumbersHaveCellsOfEqualSize) {
  Variation blocks = parse_variation("blocks=1..6");
  blocks.range->whole = true;
  const Space space({blocks});
  std::vector<int> counts(7);
  for (int i = 0; i < 600; ++i) ++counts[std::size_t(std::stoi(space.at({(i + 0.5) / 600})[0]))];
  EXPECT_THAT(counts, ElementsAre(0, 100, 100, 100, 100, 100, 100));
  EXPECT_EQ(space.levels(0).size(), 6u);
  EXPECT_EQ(space.at({space.levels(0)[5]})[0], "6");
  Variation around = parse_variation("calibrate=-1..4");
  around.range->whole = true;
  for (const double part : {0.17, 0.2, 0.24}) EXPECT_EQ(Space({around}).at({part})[0], "0");
}

}  // namespace space_test
}  // namespace bochner
