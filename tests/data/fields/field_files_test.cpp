#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/fields/field_files.hpp>
#include <bochner/data/formats/npy.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "data/batches.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace field_files_test {

using testing::EndsWith;
using testing::HasSubstr;

/// Writes numbers first, first + 1, ... as a file of this shape.
std::filesystem::path write_film(const TemporaryFolder& folder, const std::string& name,
                                 const std::vector<std::size_t>& shape, double first = 0,
                                 const ElementType& type = {}) {
  auto values = xt::xarray<double>::from_shape(shape);
  for (std::size_t i = 0; i < values.size(); ++i) values.data()[i] = first + double(i);
  std::string bytes;
  write_npy(
      values, [&](std::string_view piece) { bytes += piece; }, type);
  return folder.write(name, bytes);
}

/// Returns the first pixels of the first frames of all training examples of an epoch.
std::set<double> training_starts(const FieldFiles& films) {
  std::set<double> starts;
  for (std::uint64_t i = 0; i < films.examples().train; ++i)
    starts.insert(double(training_batch(films, i, 1).frames.data()[0]));
  return starts;
}

class FieldFilesTest : public testing::Test {
 protected:
  std::string error_of(const std::vector<std::filesystem::path>& files) const {
    return message_of<DataError>([&] { FieldFiles(files, {.frames = 2}); });
  }
  TemporaryFolder folder_;
};

TEST_F(FieldFilesTest, EveryRunOfFramesOfAFilmIsAnExample) {
  const auto one = write_film(folder_, "a.npy", {5, 2, 3});
  const auto two = write_film(folder_, "b.npy", {2, 4, 2, 3}, 100, {'f', 4});
  const FieldFiles films({one, two}, {.frames = 2, .validation = 0.3});
  EXPECT_EQ(films.examples().train, 3u + 2);
  EXPECT_EQ(films.examples().validation, 2u);
  EXPECT_EQ(training_starts(films), (std::set<double>{0, 6, 12, 100, 106}));
  const FieldBatch held_out = held_out_batch(films, 0, 5);
  EXPECT_EQ(to_string(held_out.frames.shape()), "(2, 2, 2, 3)");
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(held_out.frames.data()[i], real(124 + i));
    EXPECT_EQ(held_out.next.data()[i], real(136 + i));
    EXPECT_EQ(held_out.next.data()[6 + i], real(142 + i));
  }
  EXPECT_EQ(training_batch(films, 1, 2).next, training_batch(films, 1, 2).next);
}

TEST_F(FieldFilesTest, NoFrameOfASingleFilmIsOnBothSides) {
  const auto film = write_film(folder_, "a.npy", {10, 1, 1});
  const FieldFiles films({film}, {.frames = 2, .validation = 0.4});
  EXPECT_EQ(training_starts(films), (std::set<double>{0, 1, 2, 3}));  // frames 0 to 5
  EXPECT_EQ(films.examples().validation, 2u);
  EXPECT_EQ(held_out_batch(films, 0, 1).frames.data()[0], real(6));
  EXPECT_NEAR(films.moments().mean, 2.5, 1e-12);
  EXPECT_NEAR(films.moments().deviation, std::sqrt(35.0 / 12), 1e-12);
  EXPECT_EQ(FieldFiles({film}, {.frames = 2, .validation = 0}).examples().train, 8u);
}

TEST_F(FieldFilesTest, FilmsHaveOneToThreeDimensions) {
  const auto lines = write_film(folder_, "lines.npy", {2, 5, 3});
  const FieldFiles line({lines}, {.frames = 2, .dimensions = 1, .validation = 0.5});
  EXPECT_EQ(to_string(held_out_batch(line, 0, 1).frames.shape()), "(1, 2, 3)");
  EXPECT_EQ(held_out_batch(line, 0, 1).next.data()[0], real(15 + 6));
  const auto solids = write_film(folder_, "solids.npy", {4, 2, 3, 5});
  const FieldFiles solid({solids}, {.frames = 2, .dimensions = 3, .validation = 0});
  EXPECT_EQ(solid.examples().train, 2u);
  EXPECT_EQ(solid.size().text(), "2 x 3 x 5");
  EXPECT_THAT(message_of<DataError>([&] {
                FieldFiles({write_film(folder_, "six.npy", {1, 1, 4, 2, 3, 5})},
                           {.frames = 2, .dimensions = 3});
              }),
              HasSubstr("films are (frames, planes, height, width), or (films, frames, planes, "
                        "height, width), with data.dimensions = 3"));
}

TEST_F(FieldFilesTest, FingerprintsFollowTheNumbersAndNotTheNames) {
  const FieldFilesSpec spec{.frames = 2, .validation = 0};
  const auto film = write_film(folder_, "a.npy", {4, 2, 2});
  const auto same = write_film(folder_, "b.npy", {4, 2, 2});
  const auto other = write_film(folder_, "c.npy", {4, 2, 2}, 1);
  const std::uint64_t print = FieldFiles({film}, spec).fingerprint();
  EXPECT_EQ(FieldFiles({same}, spec).fingerprint(), print);
  EXPECT_NE(FieldFiles({other}, spec).fingerprint(), print);
}

TEST_F(FieldFilesTest, SaysWhatIsWrongWithAFile) {
  const auto good = write_film(folder_, "good.npy", {9, 2, 3});
  EXPECT_THAT(error_of({write_film(folder_, "flat.npy", {4, 4})}),
              HasSubstr("flat.npy: has shape (4, 4); films are (frames, height, width)"));
  EXPECT_THAT(error_of({good, write_film(folder_, "wide.npy", {4, 2, 4})}),
              EndsWith("wide.npy: frames of 2 x 4, but those before are 2 x 3"));
  EXPECT_THAT(error_of({write_film(folder_, "short.npy", {2, 2, 3})}),
              HasSubstr("films of 2 frames are too short for data.frames = 2"));
  EXPECT_THAT(error_of({good}),
              HasSubstr(".npy: one film of 9 frames has 8 to train and 1 to validate"));
  EXPECT_THAT(error_of({write_film(folder_, "bytes.npy", {4, 2, 3}, 0, {'u', 1})}),
              HasSubstr("bytes.npy: films are float32 or float64"));
  EXPECT_THAT(error_of({write_film(folder_, "empty.npy", {0, 2, 3})}), HasSubstr("is empty"));
  xt::xarray<double> values = xt::zeros<double>({4, 2, 3});
  values(3, 1, 2) = std::numeric_limits<double>::quiet_NaN();
  std::string bytes;
  write_npy(values, [&](std::string_view piece) { bytes += piece; });
  EXPECT_THAT(error_of({folder_.write("hole.npy", bytes)}),
              HasSubstr("hole.npy: element (3, 1, 2), counted from 0, is not a finite number"));
}

}  // namespace field_files_test
}  // namespace bochner
