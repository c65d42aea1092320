#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>

#include "data/messages.hpp"

namespace bochner {
namespace image_data_test {

using testing::ElementsAre;
using testing::HasSubstr;

NamedArray zeros_of(const std::vector<std::size_t>& shape) {
  return {xt::xarray<double>(shape, 0.0), {}};
}

std::string problem(const std::vector<std::size_t>& given, const ImageShape& shape) {
  return message_or_none<DataError>([&] { pixels_of(zeros_of(given), shape); });
}

TEST(PixelsOf, TakesImagesRowByRow) {
  NamedArray input = zeros_of({1, 2, 3});
  for (std::size_t i = 0; i < 6; ++i) input.values.data()[i] = double(i);
  EXPECT_THAT(pixels_of(input, {2, 3, 1}), ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
  for (const std::vector<std::size_t>& grey :
       {std::vector<std::size_t>{4, 2, 3}, {4, 2, 3, 1}, {4, 6}})
    EXPECT_EQ(problem(grey, {2, 3, 1}), "");
  EXPECT_EQ(problem({4, 2, 5, 3}, {2, 5, 3}), "");
}

/// The arrays hold as many numbers in another order.
TEST(PixelsOf, RefusesOtherAxes) {
  EXPECT_EQ(problem({4, 3, 2, 5}, {2, 5, 3}),
            "the input has the shape (4, 3, 2, 5), not that of images of 2 x 5 x 3 numbers; "
            "transpose it to (n, height, width, channels)");
  for (const std::vector<std::size_t>& other :
       {std::vector<std::size_t>{4, 5, 2, 3}, {4, 30}, {4, 6, 5}, {0, 2, 5, 3}, {}})
    EXPECT_THAT(problem(other, {2, 5, 3}), HasSubstr("give an array (n, height, width, channels)"));
  EXPECT_THAT(problem({4, 3, 2}, {2, 3, 1}), HasSubstr("not that of images of 2 x 3 x 1"));
}

}  // namespace image_data_test
}  // namespace bochner
