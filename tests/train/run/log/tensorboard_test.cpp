#include <gtest/gtest.h>

#include <bochner/train/run/log/live_log.hpp>

namespace bochner {
namespace tensorboard_test {

std::string hex(const std::string& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[byte & 0xf];
  }
  return text;
}

/// The check value of CRC-32C is 0xe3069283 (RFC 3720); these are its masks.
TEST(TensorBoard, MasksChecksums) {
  EXPECT_EQ(masked_crc32c("123456789"), 0xc78ab0e5u);
  EXPECT_EQ(masked_crc32c(std::string(32, '\0')),
            0xa282ead8u + (0x8a9136aau >> 15 | 0x8a9136aau << 17));
}

/// By an independent program in Python, from the description of the formats.
TEST(TensorBoard, WritesTheseBytes) {
  EXPECT_EQ(hex(tf_record(version_event(1.5))),
            "1a00000000000000129bd82d09000000000000f83f10001a0d627261696e2e4576656e743a32d3dc531e");
  EXPECT_EQ(hex(scalar_event(2, 300, {{"loss", 0.25}})),
            "09000000000000004010ac022a0d0a0b0a046c6f7373150000803e");
  EXPECT_EQ(hex(start_event(2, 7)), "09000000000000004010073a020801");
}

TEST(TensorBoard, WritesLongLengths) {
  const std::string event = scalar_event(2, 1, {{std::string(200, 't'), 1}, {"b", 2}});
  // Summary of two values: 211 and 10 bytes.
  EXPECT_EQ(hex(event).substr(22, 6), "2add01");
  EXPECT_EQ(event.size(), 11u + 3 + 221);
}

}  // namespace tensorboard_test
}  // namespace bochner
