#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/files/gzip.hpp>

#include "data/gzip_file.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace gzip_test {

using testing::HasSubstr;

constexpr std::uint64_t no_limit = std::uint64_t(1) << 40;

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

std::string unpacked(const std::string& file, std::uint64_t limit = no_limit) {
  return text_of(gunzip(bytes_of(file), "a.gz", limit));
}

std::string problem(const std::string& file, std::uint64_t limit = no_limit) {
  return message_of<DataError>([&] { unpacked(file, limit); });
}

TEST(Gzip, UnpacksOneMemberOrMore) {
  const std::string large(300000, 'x');
  EXPECT_EQ(unpacked(gzip("hello")), "hello");
  EXPECT_EQ(unpacked(gzip("")), "");
  EXPECT_EQ(unpacked(gzip("hello ") + gzip("") + gzip(large)), "hello " + large);
  EXPECT_EQ(text_of(gunzip_front(bytes_of(gzip("he") + gzip("llo")), "a.gz", 3)), "hel");
  EXPECT_EQ(text_of(gunzip_front(bytes_of(gzip("he")), "a.gz", 3)), "he");
}

TEST(Gzip, RefusesABombAtItsLimit) {
  const std::string bomb = gzip(std::string(50 << 20, '\0'));
  EXPECT_LT(bomb.size(), 60000u);
  EXPECT_EQ(problem(bomb, 1000000), "a.gz: decompresses to more than the limit of 1000000 bytes");
  EXPECT_EQ(unpacked(gzip("hello"), 5), "hello");
  EXPECT_EQ(unpacked(gzip("hello") + gzip(""), 5), "hello");
  EXPECT_THAT(problem(gzip("hello"), 4), HasSubstr("the limit of 4 bytes"));
  EXPECT_THAT(problem(gzip("hello") + gzip("x"), 5), HasSubstr("the limit of 5 bytes"));
  EXPECT_THAT(problem(gzip("x"), 0), HasSubstr("the limit of 0 bytes"));
}

TEST(Gzip, NamesFilesThatAreCutOffAtAnyByte) {
  const std::string file = gzip("some text that is packed, some text that is packed");
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_THAT(problem(file.substr(0, size)), HasSubstr("cut off")) << size;
}

TEST(Gzip, NamesDamage) {
  std::string file = gzip("some text");
  file[file.size() - 6] = char(file[file.size() - 6] ^ 1);
  EXPECT_EQ(problem(file),
            "a.gz: its compressed data are damaged (incorrect data check); fetch or write the file "
            "again");
  EXPECT_EQ(problem(gzip("x") + "abc"), "a.gz: 3 bytes follow its compressed data");
}

TEST(Deflate, GoesThereAndBack) {
  std::string text;
  for (std::uint64_t i = 0; i < 100000; ++i) text += std::to_string(i * i);
  const Bytes packed = deflate(bytes_of(text));
  EXPECT_LT(packed.size(), text.size());
  EXPECT_EQ(text_of(inflate_exactly(packed, "a", text.size())), text);
  for (const std::uint64_t wrong : {std::uint64_t(0), text.size() - 1, text.size() + 1, no_limit})
    EXPECT_NE(message_of<DataError>([&] { inflate_exactly(packed, "a", wrong); }), "");
}

}  // namespace gzip_test
}  // namespace bochner
