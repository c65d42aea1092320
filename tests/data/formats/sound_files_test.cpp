#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/sound_files.hpp>
#include <cstring>
#include <limits>

#include "data/sound_bytes.hpp"

namespace bochner {
namespace sound_files_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

RealSeriesSet read(const std::string& file) { return parse_sound(bytes_of(file), "a.wav"); }

std::string floats(const std::vector<float>& values) {
  std::string bytes(4 * values.size(), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Returns WAV files of the samples 0, a half and minus a half in each width.
std::vector<std::string> files_of_all_widths() {
  std::vector<std::string> files = {wav_bytes("\x80\xc0\x40", {.bits = 8})};
  for (const std::size_t bytes : {2, 3, 4}) {
    const std::uint64_t half = std::uint64_t(1) << (8 * bytes - 2);
    files.push_back(wav_bytes(little_endian(0, bytes) + little_endian(half, bytes) +
                                  little_endian(std::uint64_t(0) - half, bytes),
                              {.bits = 8 * bytes}));
  }
  files.push_back(wav_bytes(floats({0, 0.5f, -0.5f}), {.bits = 32, .is_float = true}));
  return files;
}

TEST(SoundFiles, HaveSamplesOfAnyWidthFromMinusOneToOne) {
  for (const std::string& file : files_of_all_widths()) {
    EXPECT_TRUE(is_sound(bytes_of(file)));
    const RealSeriesSet set = read(file);
    EXPECT_EQ(set.channels, 1u);
    EXPECT_EQ(set.rate, 8000);
    EXPECT_THAT(set.series[0].values, ElementsAre(0, 0.5f, -0.5f));
  }
}

TEST(SoundFiles, HaveOneSeriesOfAllChannels) {
  const RealSeriesSet set =
      read(wav_bytes(floats({1, 2, 3, -1, -2, -3}), {.bits = 32, .channels = 3, .is_float = true}));
  EXPECT_EQ(set.channels, 3u);
  ASSERT_EQ(set.series.size(), 1u);
  EXPECT_THAT(set.series[0].values, ElementsAre(1, -1, 2, -2, 3, -3));
}

TEST(SoundFiles, AreReadToTheirEndIfTheHeaderClaimsMore) {
  const std::size_t most = std::numeric_limits<std::uint32_t>::max();
  for (const std::size_t claimed : {std::size_t(1000), most - 8, most / 2})
    EXPECT_EQ(read(wav_bytes(std::string(8, '\1'), {.claimed = claimed})).rows(0), 4u);
}

TEST(SoundFiles, RefuseWhatHoldsNoSound) {
  const auto refused = [](const std::string& file, const char* why) {
    EXPECT_THAT([&] { read(file); }, ThrowsMessage<DataError>(HasSubstr(why)));
  };
  refused("RIFF", "a.wav: is not a recording that libsndfile reads: ");
  refused(wav_bytes(""), "a.wav: has no samples");
  refused(wav_bytes(std::string(1200, '\1'), {.channels = 300}), "has 300 channels; 1 to 256");
  const float infinite = std::numeric_limits<float>::infinity();
  refused(wav_bytes(floats({1, infinite}), {.bits = 32, .is_float = true}),
          "a.wav: has an infinite sample");
  EXPECT_FALSE(is_sound(bytes_of("RIFF\0\0\0\0AVI ")));
  EXPECT_FALSE(is_sound(bytes_of("1,2\n3,4\n")));
}

}  // namespace sound_files_test
}  // namespace bochner
