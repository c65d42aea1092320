#include <gtest/gtest.h>

#include <bochner/base/format.hpp>
#include <cstdio>

namespace bochner {
namespace format_test {

/// What a shell makes of one word.
std::string read_by_shell(const std::string& word) {
  std::FILE* pipe = ::popen(("printf %s " + word).c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += char(c);
  ::pclose(pipe);
  return text;
}

TEST(ShellWord, IsQuotedOnlyWhereAShellNeedsIt) {
  EXPECT_EQ(shell_word("runs/demo-2_b@best"), "runs/demo-2_b@best");
  EXPECT_EQ(shell_word("optim.lr=3e-4"), "optim.lr=3e-4");
  EXPECT_EQ(shell_word("my runs/a"), "'my runs/a'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellWord, IsReadBackByAShell) {
  for (const char* text : {"a b", "it's", "data.files=[\"*.txt\"]", "$HOME", "`ls`", "a\\b", "~",
                           "läufe", "a\nb", "#", "!", "&;|<>(){}?"})
    EXPECT_EQ(read_by_shell(shell_word(text)), text);
}

}  // namespace format_test
}  // namespace bochner
