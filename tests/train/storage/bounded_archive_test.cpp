#include <gtest/gtest.h>

#include <bochner/train/storage/bounded_archive.hpp>
#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <sstream>

namespace bochner {
namespace bounded_archive_test {

template <class T>
std::string encode(const T& value) {
  std::ostringstream out;
  cereal::BinaryOutputArchive archive(out);
  archive(value);
  return out.str();
}

template <class T>
T decode(std::string_view bytes) {
  T value{};
  BoundedInputArchive archive(bytes);
  archive(value);
  return value;
}

using Names = std::vector<std::string>;

TEST(BoundedInputArchive, ReadsWhatCerealWrote) {
  const Names names = {"one", "", "three"};
  EXPECT_EQ(decode<Names>(encode(names)), names);
  const std::vector<double> numbers = {1.5, -2.0};
  EXPECT_EQ(decode<std::vector<double>>(encode(numbers)), numbers);
}

TEST(BoundedInputArchive, RefusesEveryTruncation) {
  const std::string bytes = encode(Names{"one", "two"});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(decode<Names>(bytes.substr(0, length)), DataError) << length;
  }
}

TEST(BoundedInputArchive, RefusesSizesLargerThanTheBytesLeft) {
  for (int bit = 3; bit < 64; ++bit) {
    const std::string bytes = encode(std::uint64_t(1) << bit) + "1234567";
    EXPECT_THROW(decode<std::string>(bytes), DataError) << bit;
    EXPECT_THROW(decode<std::vector<double>>(bytes), DataError) << bit;
    EXPECT_THROW(decode<Names>(bytes), DataError) << bit;
  }
}

/// Every count fits the bytes left at its place, their sum does not fit the input.
TEST(BoundedInputArchive, RefusesContainersThatTogetherClaimTooMuch) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += encode(std::uint64_t(30));
  BoundedInputArchive archive(bytes);
  EXPECT_EQ(archive.read_count(), 30u);
  EXPECT_EQ(archive.read_count(), 30u);
  EXPECT_THROW(archive.read_count(), DataError);
}

struct Deep {
  int levels_left = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    if (levels_left == 0) return;
    Deep inner{levels_left - 1};
    archive(inner);
  }
};

TEST(BoundedInputArchive, RefusesDeepNesting) {
  BoundedInputArchive archive("");
  Deep shallow{BoundedInputArchive::max_depth - 1}, deep{BoundedInputArchive::max_depth};
  EXPECT_NO_THROW(archive(shallow));
  EXPECT_THROW(archive(deep), DataError);
}

}  // namespace bounded_archive_test
}  // namespace bochner
