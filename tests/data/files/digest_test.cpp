#include <gtest/gtest.h>

#include <bochner/data/files/digest.hpp>
#include <string>
#include <vector>

namespace bochner {
namespace digest_test {

/// Values of XXH64 from its specification and its Python package.
TEST(Digest, IsXxhash64) {
  const std::string text = "abc";
  EXPECT_EQ(digest_of(text.data(), 0), 0xef46db3751d8e999ull);
  EXPECT_EQ(digest_of(text.data(), 1), 0xd24ec4f1a98c6e5bull);
  EXPECT_EQ(digest_of_elements(text), 0x44bc2cf5ad770999ull);
}

TEST(Digest, OfPiecesIsThatOfTheWhole) {
  const std::string text(1000, 'x');
  Digest digest;
  for (std::size_t i = 0; i < text.size(); i += 100) digest.update(text.data() + i, 100);
  EXPECT_EQ(digest.value(), digest_of(text.data(), text.size()));
}

TEST(Digest, OfElementsIsThatOfTheirBytesAfterASeed) {
  const std::vector<double> numbers{1, 2.5};
  EXPECT_EQ(digest_of_elements(numbers, 7), digest_of(numbers.data(), 16, 7));
  EXPECT_NE(digest_of_elements(numbers, 7), digest_of_elements(numbers));
}

}  // namespace digest_test
}  // namespace bochner
