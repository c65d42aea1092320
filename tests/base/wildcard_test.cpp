#include <gtest/gtest.h>

#include <bochner/base/text.hpp>

namespace bochner {
namespace wildcard_test {

TEST(Matches, StarsAndQuestionMarks) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*", "a.b"));
  EXPECT_TRUE(matches("blocks.?.norm", "blocks.3.norm"));
  EXPECT_FALSE(matches("blocks.?.norm", "blocks.12.norm"));
  EXPECT_TRUE(matches("blocks.*.norm", "blocks.12.mixer.norm"));
  EXPECT_TRUE(matches("*.density.*", "blocks.0.mixer.density.mean"));
  EXPECT_FALSE(matches("*.density.*", "density.mean"));
  EXPECT_FALSE(matches("*.density", "blocks.0.density.mean"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("ab", "a"));
  EXPECT_TRUE(matches("ab**", "ab"));
}

TEST(Matches, TakesBackWhatAStarTookTooEarly) {
  EXPECT_TRUE(matches("*ab", "aab.ab"));
  EXPECT_TRUE(matches("*a*b*c", "xxaxbxbxc"));
  EXPECT_FALSE(matches("*a*b*c", "xxaxbxbx"));
}

TEST(Matches, AQuestionMarkIsOneCharacterOfUtf8) {
  EXPECT_TRUE(matches("?.b", "ä.b"));
  EXPECT_FALSE(matches("??.b", "ä.b"));
  EXPECT_TRUE(matches("*?ä", "aää"));
  EXPECT_TRUE(matches("?", "\xff"));
}

}  // namespace wildcard_test
}  // namespace bochner
