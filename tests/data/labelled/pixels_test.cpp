#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/labelled/pixels.hpp>
#include <set>

#include "data/batches.hpp"

namespace bochner {
namespace pixels_test {

using testing::Each;
using testing::ElementsAre;

Images four_images() { return {1, 2, 1, {0, 1, 10, 11, 20, 21, 255, 31}, {0, 1, 2, 1}}; }

TEST(ImageSequences, PixelsAreTokens) {
  const ImageSequences data(four_images(), 3, 1, false);
  EXPECT_EQ(data.classes(), 3u);
  EXPECT_EQ(data.length(), 2u);
  const LabelledBatch held_out = held_out_batch(data, 0, 8);
  EXPECT_THAT(held_out.tokens.values, ElementsAre(255, 31));
  EXPECT_THAT(held_out.labels.values, ElementsAre(1));
  const ImageSequences marked(four_images(), 3, 1, true);
  EXPECT_EQ(marked.length(), 3u);
  EXPECT_THAT(held_out_batch(marked, 0, 8).tokens.values, ElementsAre(256, 255, 31));
}

TEST(ImageSequences, AnEpochVisitsEveryTrainingImageOnce) {
  const ImageSequences data(four_images(), 3, 1, false);
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    const auto tokens = training_batch(data, 3 * epoch, 3).tokens.values;
    EXPECT_EQ(std::set<int>(tokens.begin(), tokens.end()), (std::set<int>{0, 1, 10, 11, 20, 21}));
  }
}

TEST(ImageSequences, NeedsImagesToTrainOn) {
  EXPECT_THROW(ImageSequences(four_images(), 0, 1, false), DataError);
}

TEST(ImageSequences, FingerprintsDifferWhereverTheExamplesDo) {
  std::set<std::uint64_t> all;
  Images other = four_images(), relabelled = four_images();
  other.pixels[5] = 0;
  relabelled.labels[0] = 1;
  all.insert(ImageSequences(four_images(), 3, 1, false).fingerprint());
  all.insert(ImageSequences(four_images(), 2, 1, false).fingerprint());
  all.insert(ImageSequences(four_images(), 3, 2, false).fingerprint());
  all.insert(ImageSequences(four_images(), 3, 1, true).fingerprint());
  all.insert(ImageSequences(other, 3, 1, false).fingerprint());
  all.insert(ImageSequences(relabelled, 3, 1, false).fingerprint());
  EXPECT_EQ(all.size(), 6u);
}

/// Returns the mean image of each label over many examples. (4, side * side)
std::vector<std::vector<double>> mean_images(const Shapes& shapes, std::size_t count) {
  std::vector<std::vector<double>> means(4, std::vector<double>(shapes.length()));
  std::vector<double> counts(4);
  const LabelledBatch batch = held_out_batch(shapes, 0, count);
  for (std::size_t row = 0; row < count; ++row) {
    const std::size_t label = std::size_t(batch.labels.values[row]);
    ++counts[label];
    for (std::size_t i = 0; i < shapes.length(); ++i)
      means[label][i] += batch.tokens.values[row * shapes.length() + i];
  }
  for (std::size_t label = 0; label < 4; ++label)
    for (double& mean : means[label]) mean /= counts[label];
  return means;
}

TEST(Shapes, HaveFourKindsInNoise) {
  const Shapes shapes({.side = 12}, {3, 10, 4000});
  const LabelledBatch batch = held_out_batch(shapes, 0, 4000);
  EXPECT_THAT(batch.lengths, Each(144u));
  for (int label = 0; label < 4; ++label)
    EXPECT_NEAR(std::count(batch.labels.values.begin(), batch.labels.values.end(), label), 1000,
                5 * std::sqrt(4000 * 3. / 16));
  const auto [lowest, highest] =
      std::minmax_element(batch.tokens.values.begin(), batch.tokens.values.end());
  EXPECT_EQ(*lowest, 0);
  EXPECT_EQ(*highest, 255);
}

/// Noise has a mean of 79.5 and a shape lifts each of its pixels by 96.
TEST(Shapes, CoverAsManyPixelsAsTheirShapes) {
  const std::size_t side = 12;
  const auto means = mean_images(Shapes({.side = side}, {3, 10, 4000}), 4000);
  const auto covered = [&](int label) {
    double sum = 0;
    for (const double mean : means[std::size_t(label)]) sum += mean - 79.5;
    return sum / 96;
  };
  // Radius 2 or 3: outlines of 16 or 24 pixels, discs of 13 or 29, crosses of 9 or 13.
  EXPECT_NEAR(covered(0), 20, 1);
  EXPECT_NEAR(covered(1), 21, 1);
  EXPECT_NEAR(covered(2), 11, 1);
  EXPECT_NEAR(covered(3), 11, 1);
}

TEST(Shapes, AreFunctionsOfTheirNumber) {
  const ExampleSet examples{3, 10, 10};
  const Shapes shapes({.side = 12}, examples), marked({12, true}, examples);
  const LabelledBatch batch = training_batch(shapes, 4, 3), again = training_batch(shapes, 6, 1);
  EXPECT_TRUE(std::equal(again.tokens.values.begin(), again.tokens.values.end(),
                         batch.tokens.values.begin() + 2 * 144));
  const auto with_class = training_batch(marked, 6, 1).tokens.values;
  EXPECT_EQ(with_class[0], pixel_class);
  EXPECT_TRUE(
      std::equal(again.tokens.values.begin(), again.tokens.values.end(), with_class.begin() + 1));
  EXPECT_NE(shapes.fingerprint(), marked.fingerprint());
  EXPECT_NE(shapes.fingerprint(), Shapes({.side = 13}, examples).fingerprint());
  EXPECT_THROW(Shapes({.side = 11}, examples), std::invalid_argument);
}

TEST(Patches, AreReadRowByRowWithTheirChannelsTogether) {
  EXPECT_EQ(patch_order({2, 4, 1}, 2), (std::vector<std::size_t>{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(patch_order({2, 2, 2}, 1), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(patch_order({2, 2, 2}, 2), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace pixels_test
}  // namespace bochner
