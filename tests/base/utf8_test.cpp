#include <gtest/gtest.h>

#include <bochner/base/text.hpp>

namespace bochner {
namespace utf8_test {

TEST(Utf8, IsKnownByItsBytes) {
  for (const char* text : {"", "a", "\xc3\xaf", "\xe2\x96\x81", "\xf0\x9f\x8c\x8d", "\xed\x9f\xbf"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* text : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xf0\x80\x80\x80", "a\xff", "\xe2\x96"})
    EXPECT_FALSE(is_utf8(text));
}

}  // namespace utf8_test
}  // namespace bochner
