#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/files/regular_file.hpp>
#include <cstdio>

#include "data/gzip_file.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace input_test {

using testing::HasSubstr;

/// Redirects standard input to the file while it lives.
class StandardInput {
 public:
  explicit StandardInput(const std::filesystem::path& file) : before_(::dup(STDIN_FILENO)) {
    if (!std::freopen(file.c_str(), "rb", stdin)) throw std::runtime_error("no " + file.string());
  }
  ~StandardInput() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

TEST(Input, IsTheBytesOfAFile) {
  const TemporaryFolder folder;
  const Input plain(folder.write("a", "text"));
  EXPECT_EQ(plain.text(), "text");
  EXPECT_EQ(plain.name(), (folder.path() / "a").string());
  EXPECT_EQ(Input(folder.write("b", gzip("packed"))).text(), "packed");
  EXPECT_EQ(Input(folder.write("c", "")).text(), "");
  EXPECT_THROW(Input(folder.path() / "none"), IoError);
}

TEST(Input, IsStandardInput) {
  const TemporaryFolder folder;
  const std::string large(200000, 'x');
  for (const std::string& contents : {large, gzip(large)}) {
    const StandardInput redirected(folder.write("in", contents));
    const Input input("-");
    EXPECT_EQ(input.text(), large);
    EXPECT_EQ(input.name(), "standard input");
  }
}

TEST(Input, OfNothingSaysWhatToDo) {
  const TemporaryFolder folder;
  const StandardInput redirected(folder.write("in", ""));
  EXPECT_EQ(message_of<DataError>([] { Input("-", 50); }),
            "standard input: is empty; pipe data into the command, or name a file");
}

TEST(Input, HasALimit) {
  const TemporaryFolder folder;
  const auto file = folder.write("bomb.gz", gzip(std::string(1 << 20, ' ')));
  EXPECT_THAT(message_of<DataError>([&] { Input(file, 1000); }),
              HasSubstr("bomb.gz: decompresses to more than the limit of 1000 bytes"));
  const StandardInput redirected(folder.write("in", std::string(100, 'x')));
  EXPECT_THAT(message_of<DataError>([&] { Input("-", 50); }),
              HasSubstr("standard input: holds more than 50 bytes"));
}

}  // namespace input_test
}  // namespace bochner
