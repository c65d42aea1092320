#include <gtest/gtest.h>

#include <bochner/data/text/token_windows.hpp>

#include "data/temporary_folder.hpp"

namespace bochner {
namespace text_lines_test {

TEST(FrontLine, EndsWithItsEndOrBehindASpace) {
  EXPECT_EQ(front_line("ab\ncd\n"), "ab\n");
  EXPECT_EQ(front_line("ab"), "ab");
  EXPECT_EQ(front_line(""), "");
  EXPECT_EQ(front_line("ab cd ef", 7), "ab cd ");
  EXPECT_EQ(front_line("abcdefgh", 4), "abcd");
  EXPECT_EQ(front_line("abc\n", 3), "abc");
}

TEST(FrontLine, EndsBetweenCharacters) {
  EXPECT_EQ(front_line("abc\xc3\xaf", 4), "abc");
  EXPECT_EQ(front_line("a\xf0\x9f\x8c\x8d z", 4), "a");
  EXPECT_EQ(front_line("\x80\x80\x80\x80\x80\x80", 4).size(), 1u) << "what is no text ends as well";
}

/// Lines of a text that is read in blocks are those of the whole.
TEST(LineReader, CutsAsFrontLineDoes) {
  std::string text;
  for (unsigned i = 0; text.size() < 9000000; ++i)
    text += std::string(i * 7919u % 300000u, char('a' + i % 26)) + (i % 3 == 0 ? "\n" : " ");
  const TemporaryFolder folder;
  const ByteCorpus corpus(
      {folder.write("a", text.substr(0, 12345)), folder.write("b", text.substr(12345))});
  LineReader reader(corpus);
  std::size_t lines = 0;
  for (std::string_view rest = text; !rest.empty(); ++lines) {
    const std::string_view line = front_line(rest);
    ASSERT_EQ(reader.next(), line);
    rest.remove_prefix(line.size());
    ASSERT_EQ(reader.place(), text.size() - rest.size());
  }
  EXPECT_GT(lines, 100u);
  EXPECT_EQ(reader.next(), "");
}

}  // namespace text_lines_test
}  // namespace bochner
