#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/storage/json.hpp>
#include <limits>

namespace bochner {
namespace json_test {

using testing::ElementsAre;
using testing::Pointee;

TEST(Json, KeepsTheOrderOfMembersAndReplacesEqualNames) {
  Json json = {{"z", 1}, {"a", true}, {"list", std::vector<std::string>{"x", "y"}}};
  json.set("z", "one").set({{"b", {{"inner", Json()}}}, {"a", false}});
  EXPECT_EQ(json.line(), R"({"z":"one","a":false,"list":["x","y"],"b":{"inner":null}})");
}

TEST(Json, WritesNumbersInTheirShortestFormAndNullForTheOthers) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Json(std::vector<double>{1, -0.1, 1e-5, 1e22, 1. / 3}).line(),
            "[1,-0.1,1e-05,1e+22,0.3333333333333333]");
  EXPECT_EQ(Json::array({std::uint64_t(-1), std::int64_t(-5), 0.0, -0.0}).line(),
            "[18446744073709551615,-5,0,-0]");
  EXPECT_EQ(Json::array({Json::rounded(1. / 3), Json::rounded(12345678), Json::rounded(2)}).line(),
            "[0.333333,1.23457e+07,2]");
  EXPECT_EQ(Json::array({infinity, -infinity, std::nan(""), Json::rounded(infinity)}).line(),
            "[null,null,null,null]");
}

TEST(Json, EscapesWhatATextMayNotHold) {
  EXPECT_EQ(Json("\"\\\n\x01 δ").line(), "\"\\\"\\\\\\n\\u0001 δ\"");
  EXPECT_EQ(Json("\xff").line(), "\"\xef\xbf\xbd\"") << "no UTF-8";
  EXPECT_EQ((Json{{"a\"b", 1}}.line()), R"({"a\"b":1})");
}

TEST(Json, IsIndentedByTwo) {
  const Json json = {{"a", 1}, {"b", Json::array({1, Json{{"c", "d"}}})}, {"e", Json::array()}};
  EXPECT_EQ(json.lines(),
            "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    {\n      \"c\": \"d\"\n    }\n  ],\n  \"e\": "
            "[]\n}\n");
}

TEST(Json, ReadsWhatItWrites) {
  for (const char* text :
       {"null", "true", "-12", "18446744073709551615", "1e-300", "\"a\\n\"", "[]", "{}",
        R"({"step":1,"list":[1,[2,{"a":null}],"x"],"b":{"c":false}})"})
    EXPECT_EQ(Json::parse(text).line(), text);
}

TEST(Json, AnswersNothingWhereThereIsNothing) {
  const Json json =
      Json::parse(R"({"number":2.5,"text":"a","list":[1,2],"flag":true,"none":null})");
  EXPECT_EQ(json["number"].number(), 2.5);
  EXPECT_THAT(json["text"].text(), Pointee(std::string("a")));
  EXPECT_EQ(json["list"].items().size(), 2u);
  for (const char* key : {"flag", "none", "missing", "list"}) {
    EXPECT_EQ(json[key].number(), std::nullopt) << key;
    EXPECT_EQ(json[key].text(), nullptr) << key;
    EXPECT_TRUE(json[key].members().empty()) << key;
  }
  EXPECT_TRUE(json["number"]["inner"].items().empty());
}

TEST(Json, AFlagIsNoNumber) {
  EXPECT_EQ(Json::parse("true").flag(), true);
  EXPECT_EQ(Json::parse("false").flag(), false);
  EXPECT_EQ(Json::parse("1").flag(), std::nullopt);
}

TEST(Json, CountsWithoutRounding) {
  for (const char* text : {"0", "9007199254740993", "18446744073709551615"})
    EXPECT_EQ(Json(Json::parse(text).count().value()).line(), text);
  EXPECT_EQ(Json::parse("2.0").count(), 2u);
  for (const char* text : {"-1", "0.5", "18446744073709551616", "1e300", "true", "\"1\"", "[1]"})
    EXPECT_EQ(Json::parse(text).count(), std::nullopt) << text;
}

TEST(Json, IsNullForWhatIsNone) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":inf}", "{\"a\":nan}", "{} {}", "\"\xff\""})
    EXPECT_EQ(Json::parse(text).line(), "null") << text;
  EXPECT_EQ(Json::parse(std::string(100000, '[') + std::string(100000, ']')).line().size(),
            101 * 2 + 4u)
      << "nested deeper than 100";
}

}  // namespace json_test
}  // namespace bochner
