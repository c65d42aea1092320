#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/text.hpp>

namespace bochner {
namespace text_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Printable, ShowsControlCharactersAndKeepsOtherText) {
  EXPECT_EQ(printable("plain · ━ \xc3\xa9"), "plain · ━ \xc3\xa9");
  EXPECT_EQ(printable(std::string_view("\0\x1b\x7f\n", 4)), "\\x00\\x1b\\x7f\\x0a");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m\xc2\xa0\xc2"),
            "\\x9b1m\xc2\xa0\xc2");
  EXPECT_EQ(printable("a\nb\tc", '\n'), "a\nb\\x09c");
}

TEST(LowerCase, ChangesAsciiOnly) { EXPECT_EQ(lower_case("AZaz[@ \xc3\x89"), "azaz[@ \xc3\x89"); }

TEST(SplitList, KeepsEmptyParts) {
  std::string_view text = "a\r\n\nb\rc\n d";
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(take_line(text));
  EXPECT_THAT(lines, ElementsAre("a", "", "b\rc", " d"));
  EXPECT_THAT(split_list(""), IsEmpty());
  EXPECT_THAT(split_list("a"), ElementsAre("a"));
  EXPECT_THAT(split_list("a,bc,d"), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(split_list(",a,,"), ElementsAre("", "a", "", ""));
}

}  // namespace text_test
}  // namespace bochner
