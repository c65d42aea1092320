#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/images.hpp>
#include <bochner/data/formats/stored_array.hpp>

#include "data/gzip_file.hpp"
#include "data/image_files.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace images_test {

using testing::ElementsAre;
using namespace std::string_literals;
using testing::HasSubstr;

std::string problem(const std::string& file) {
  return message_of<DataError>([&] { parse_idx(bytes_of(file), "a.idx"); });
}

TEST(Idx, ReadsNumbersOfEveryType) {
  const auto read = [](const std::string& file) {
    return parse_idx(bytes_of(file), "a.idx").values();
  };
  const auto bytes = read(idx_file({2, 2}, "\1\2\3\xff"));
  EXPECT_EQ(bytes.shape(1), 2u);
  EXPECT_THAT(std::vector<double>(bytes.begin(), bytes.end()), ElementsAre(1, 2, 3, 255));
  const auto one = [&](char type, const std::string& number) {
    return read(std::string("\0\0", 2) + type + std::string("\1\0\0\0\1", 5) + number)(0);
  };
  EXPECT_EQ(one(0x09, "\xff"), -1);
  EXPECT_EQ(one(0x0b, "\x01\x02"), 258);
  EXPECT_EQ(one(0x0c, std::string("\x01\0\0\x02", 4)), 16777218);
  EXPECT_EQ(one(0x0d, std::string("\x3f\xc0\0\0", 4)), 1.5);
  EXPECT_EQ(one(0x0e, std::string("\xbf\xf8\0\0\0\0\0\0", 8)), -1.5);
}

TEST(Idx, RefusesWhatDoesNotHoldWhatItClaims) {
  const std::string file = idx_file({2, 2}, "abcd");
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(problem(file.substr(0, size)), "") << size;
  EXPECT_THAT(problem(file + "e"), HasSubstr("claims (2, 2) of uint8 and holds 5 bytes"));
  EXPECT_THAT(problem(idx_file(std::vector<std::size_t>(8, 0xffffffff), "")),
              HasSubstr("more than 2^60 elements"));
  EXPECT_THAT(problem(idx_file(std::vector<std::size_t>(33, 1), "x")), HasSubstr("32 axes"));
  EXPECT_THAT(problem(std::string("\0\0\x07\1", 4)), HasSubstr("is not an IDX file"));
}

class ImageFiles : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& contents) {
    return folder.write(name, contents);
  }
  TemporaryFolder folder;
};

TEST_F(ImageFiles, PairsImagesAndLabelsOfIdx) {
  const auto images = file("images.gz", gzip(idx_file({2, 1, 3}, "abcdef")));
  const auto labels = file("labels", idx_file({2}, "\1\0"s));
  const Images set = read_images({images, labels});
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(set.height, 1u);
  EXPECT_EQ(set.width, 3u);
  EXPECT_EQ(set.channels, 1u);
  EXPECT_THAT(set.labels, ElementsAre(1, 0));
  EXPECT_EQ(std::string(set.pixels.begin(), set.pixels.end()), "abcdef");
}

TEST_F(ImageFiles, ReadsBothKindsOfCifar) {
  const std::string ten = cifar_record_of("\3") + cifar_record_of("\7");
  const Images set = read_images({file("a.bin", ten)});
  EXPECT_THAT(set.labels, ElementsAre(3, 7));
  ASSERT_EQ(set.pixels.size(), 2u * 3072);
  const std::uint8_t* pixel = &set.pixels[3072 + (5 * 32 + 9) * 3];
  EXPECT_THAT(std::vector<int>(pixel, pixel + 3), ElementsAre(5, 9, 7));
  const Images fine = read_images({file("b.bin.gz", gzip(cifar_record_of("\x13\x63")))});
  EXPECT_THAT(fine.labels, ElementsAre(99));
  EXPECT_EQ(fine.pixels[0], 0);
  EXPECT_EQ(read_images({file("a.bin", ten), file("b.bin", ten)}).size(), 4u);
}

TEST_F(ImageFiles, TurnsColoursToGrey) {
  const Images grey = to_grey(read_images({file("a.bin", cifar_record_of("\3"))}));
  EXPECT_EQ(grey.channels, 1u);
  EXPECT_EQ(grey.pixels.size(), 1024u);
  EXPECT_EQ(grey.pixels[31 * 32 + 20], 22);  // 0.2989 * 31 + 0.587 * 20 + 0.114 * 7 = 21.8
}

TEST_F(ImageFiles, RefusesSetsThatDoNotFit) {
  const auto images = file("images", idx_file({2, 1, 3}, "abcdef"));
  const auto problem_of = [](const std::vector<std::filesystem::path>& files) {
    return message_of<DataError>([&] { read_images(files); });
  };
  EXPECT_THAT(problem_of({images}), HasSubstr("2 images and 0 labels"));
  EXPECT_THAT(problem_of({images, file("labels", idx_file({3}, "abc"))}),
              HasSubstr("2 images and 3 labels"));
  EXPECT_THAT(problem_of({images, file("other", idx_file({1, 3, 1}, "abc"))}),
              HasSubstr("differ in size"));
  EXPECT_THAT(problem_of({file("matrix", idx_file({1, 3}, "abc"))}), HasSubstr("holds (1, 3)"));
  EXPECT_THAT(problem_of({file("text", "hello")}), HasSubstr("is neither an IDX file nor CIFAR"));
  EXPECT_THAT(problem_of({file("c", cifar_record_of("\x0a"))}), HasSubstr("is neither"));
  EXPECT_THAT(problem_of({file("c", cifar_record_of("\3").substr(1))}), HasSubstr("is neither"));
  const std::string bomb = gzip(idx_file({2}, std::string(1 << 20, '\0')));
  EXPECT_THAT(problem_of({file("bomb.gz", bomb)}),
              HasSubstr("decompresses to more than the limit of 10 bytes"));
}

}  // namespace images_test
}  // namespace bochner
