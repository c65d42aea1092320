#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/npy.hpp>
#include <cstring>

#include "data/golden_file.hpp"
#include "data/gzip_file.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace npz_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::string written(const NamedArrays& arrays, const NpzOptions& options = {}) {
  std::string file;
  write_npz(
      arrays, [&](std::string_view piece) { file += piece; }, options);
  return file;
}

/// Concatenates all arrays of the file.
std::vector<double> numbers(const std::string& file) {
  const Npz npz(bytes_of(file), "a.npz");
  std::vector<double> all;
  for (const std::string& name : npz.names())
    for (const double value : npz.values(name)) all.push_back(value);
  return all;
}

std::string problem(const std::string& file) {
  return message_or_none<DataError>([&] { numbers(file); });
}

const NamedArrays two = {{"x", xt::xarray<double>{1, 2, 3}}, {"y", xt::xarray<double>{{4, 5}}}};

/// Returns the file with `bytes` at `at` bytes after the last `mark`.
std::string changed(std::string file, std::string_view mark, std::size_t at,
                    std::string_view bytes) {
  return file.replace(file.rfind(mark) + at, bytes.size(), bytes);
}
constexpr std::string_view local("PK\x03\x04", 4), central("PK\x01\x02", 4), end64("PK\x06\x06", 4),
    locator("PK\x06\x07", 4), end("PK\x05\x06", 4), all_ones("\xff\xff\xff\xff\xff\xff\xff\xff", 8);

TEST(Npz, ReadsFilesOfNumPy) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string file = golden_file(name);
    const Npz npz(bytes_of(file), name);
    EXPECT_THAT(npz.names(), ElementsAre("a", "b c"));
    EXPECT_THAT(numbers(file), ElementsAre(-50, -13, 24, -40, -3, -50, -13, 24, -40, -3, 34));
    EXPECT_EQ(npz.values("b c").shape(1), 3u);
    EXPECT_THAT(message_of<DataError>([&] { npz.values("c"); }),
                HasSubstr("no array \"c\"; there are: \"a\", \"b c\""));
  }
}

TEST(Npz, ReadsWhatItWrites) {
  for (const bool compressed : {false, true}) {
    const std::string file = written(two, {element_type("int8"), compressed});
    EXPECT_THAT(numbers(file), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_EQ(Npz(bytes_of(file), "a").values("y").shape(1), 2u);
  }
  EXPECT_THAT(numbers(written({})), ElementsAre());
  const NamedArrays zeros = {{"z", xt::xarray<double>(xt::zeros<double>({100000}))}};
  EXPECT_LT(written(zeros, {{}, true}).size(), 3000u);
}

TEST(Npz, RefusesEveryTruncation) {
  for (const bool compressed : {false, true}) {
    const std::string file = written(two, {{}, compressed});
    for (std::size_t size = 0; size < file.size(); ++size)
      EXPECT_NE(problem(file.substr(0, size)), "") << size;
  }
}

TEST(Npz, RefusesDirectoriesThatLie) {
  const std::string file = written(two), packed = written(two, {{}, true});
  ASSERT_EQ(problem(file), "");
  EXPECT_THAT(problem(changed(file, end64, 32, all_ones)), HasSubstr("members in a directory of"));
  EXPECT_THAT(problem(changed(file, end64, 40, all_ones)), HasSubstr("lies outside the file"));
  EXPECT_THAT(problem(changed(file, end64, 48, all_ones)), HasSubstr("lies outside the file"));
  EXPECT_THAT(problem(changed(file, locator, 8, all_ones)), HasSubstr("lies outside the file"));
  EXPECT_THAT(problem(changed(file, end64, 0, "x")), HasSubstr("damaged zip64 directory"));
  EXPECT_THAT(problem(changed(file, central, 0, "x")), HasSubstr("damaged directory"));
  EXPECT_THAT(problem(changed(file, central, 8, "\x01")), HasSubstr("is encrypted"));
  EXPECT_THAT(problem(changed(file, central, 10, "\x0c")), HasSubstr("packed by method 12"));
  EXPECT_THAT(problem(changed(file, central, 28, "\xff\xff")), HasSubstr("cut off"));
  EXPECT_THAT(problem(changed(file, central, 46, "z")), HasSubstr("another name"));
  EXPECT_THAT(problem(changed(file, local, 0, "x")), HasSubstr("not where the directory says"));
  // The extra field of the second member: kind, length, size, packed size, offset.
  const std::size_t extra = 46 + std::strlen("y.npy") + 4;
  EXPECT_THAT(problem(changed(file, central, extra, all_ones)), HasSubstr("and stores"));
  EXPECT_THAT(problem(changed(packed, central, extra, all_ones)), HasSubstr("claims (1, 2)"));
  EXPECT_THAT(problem(changed(file, central, extra + 8, all_ones)), HasSubstr("outside the file"));
  EXPECT_THAT(problem(changed(file, central, extra + 16, all_ones)), HasSubstr("outside the file"));
  EXPECT_THAT(problem(changed(file, end, 20, "\x01")), HasSubstr("no zip directory"));
}

TEST(Npz, RefusesMembersThatOverlap) {
  const NamedArrays same = {{"x", xt::xarray<double>{1, 2}}, {"x", xt::xarray<double>{1, 2}}};
  const std::string file = written(same);
  const std::size_t offset = 46 + std::strlen("x.npy") + 4 + 16;
  EXPECT_THAT(problem(changed(file, central, offset, std::string(8, '\0'))),
              HasSubstr("members that overlap"));
}

/// The file is consistent, but the bytes of one member are another member. libzip 1.7 opens such
/// files with ZIP_CHECKCONS too, and does not report where members are.
TEST(Npz, RefusesAMemberWithinAnother) {
  const std::string text(100, 'y');
  const ZipMember inner{"y.npy", false, crc32_of(bytes_of(text)), text.size(), bytes_of(text)};
  const std::string held = zip_member_header(inner) + text;
  const ZipMember outer{"x.npy", false, crc32_of(bytes_of(held)), held.size(), bytes_of(held)};
  const std::string header = zip_member_header(outer), front = header + held;
  const auto closed = [&](const std::vector<ZipMember>& members,
                          const std::vector<std::uint64_t>& offsets) {
    return front + zip_directory_bytes(members, offsets, front.size());
  };
  EXPECT_THAT(problem(closed({outer, inner}, {0, header.size()})),
              HasSubstr("members that overlap"));
  EXPECT_THAT(problem(closed({inner}, {header.size()})), HasSubstr("is not a .npy file"));
}

TEST(Npz, RefusesABombBeforeItIsUnpacked) {
  NamedArrays zeros = {{"z", xt::xarray<double>(xt::zeros<double>({1 << 20}))}};
  std::string file = written(zeros, {{}, true});
  const std::size_t extra = 46 + std::strlen("z.npy") + 4;
  const std::string huge("\0\0\0\0\0\1\0\0", 8);  // 2^40 bytes
  EXPECT_THAT(problem(changed(file, central, extra, huge)), HasSubstr("claims (1048576,)"));
  std::string npy = npy_header_bytes({}, {std::size_t(1) << 37});
  const Bytes packed = deflate(bytes_of(npy));
  const ZipMember member{"z.npy", true, 0, npy.size() + (std::uint64_t(1) << 40), packed};
  file = zip_member_header(member) + std::string(packed.begin(), packed.end());
  file += zip_directory_bytes({member}, {0}, file.size());
  EXPECT_THAT(problem(file), HasSubstr("compressed bytes cannot hold"));
}

TEST(Npz, ChecksEveryByteOfAnArray) {
  for (const bool compressed : {false, true}) {
    const std::string file = written(two, {{}, compressed});
    const std::size_t begin = 30 + 5 + 20, behind = file.find(local, 1);
    for (std::size_t at = begin; at < behind; ++at) {
      std::string damaged = file;
      damaged[at] = char(damaged[at] ^ 0x10);
      EXPECT_NE(problem(damaged), "") << at;
    }
  }
}

}  // namespace npz_test
}  // namespace bochner
