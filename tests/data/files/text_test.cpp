#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/files/text.hpp>

namespace bochner {
namespace text_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitList, KeepsEmptyParts) {
  EXPECT_THAT(split_list(""), IsEmpty());
  EXPECT_THAT(split_list("a"), ElementsAre("a"));
  EXPECT_THAT(split_list("a,bc,d"), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(split_list(",a,,"), ElementsAre("", "a", "", ""));
}

}  // namespace text_test
}  // namespace bochner
