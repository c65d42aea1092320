#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/data/formats/read_series.hpp>

#include "data/sound_bytes.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace read_series_test {

using testing::ElementsAre;
using testing::HasSubstr;

ReadOptions options_of(const SeriesOptions& series) {
  ReadOptions options{.csv = {}, .array = "", .series = series};
  options.csv.texts = {series.columns.series, series.columns.label};
  options.csv.labels = {series.columns.label};
  options.csv.missing = "nan";
  return options;
}

TEST(ReadSeries, ReadsRowsOfTheUcrArchive) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.tsv", "1\t0.5\t1.5\tNaN\n-1\t2\tNaN\t3\n");
  const RealSeriesSet set =
      read_labelled_series(file, options_of({.columns = {.label = "1"}, .layout = "wide"}));
  ASSERT_EQ(set.series.size(), 2u);
  EXPECT_THAT(set.series[0].values, ElementsAre(0.5, 1.5));
  EXPECT_EQ(set.series[0].label, "1");
  EXPECT_THAT(set.series[1].values, ElementsAre(2, testing::IsNan(), 3));
}

TEST(ReadSeries, ReadsTablesWithoutLabelsAndWithOtherTexts) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.csv", "series,who,x\nu,ann,1\nu,bob,2\nv,cat,3\n");
  ReadOptions options = options_of({.columns = {.channels = {"x"}}});
  const RealSeriesSet set = read_labelled_series(file, options);
  ASSERT_EQ(set.series.size(), 2u);
  EXPECT_EQ(set.series[0].name, "u");
  EXPECT_THAT(set.series[0].values, ElementsAre(1, 2));
  options.series->labelled = true;
  EXPECT_THAT(message_of<DataError>([&] { read_labelled_series(file, options); }),
              HasSubstr("a.csv: no column \"label\""));
}

TEST(ReadSeries, ReadsArrays) {
  const TemporaryFolder folder;
  std::string npz;
  write_npz({{"X", xt::xarray<double>{{1, 2}, {3, 4}}}, {"y", {5, 6}}},
            [&](std::string_view piece) { npz += piece; });
  EXPECT_TRUE(holds_labelled_series(bytes_of(npz), "a.npz"));
  const RealSeriesSet set =
      read_labelled_series(folder.write("a.npz", npz), options_of(SeriesOptions()));
  EXPECT_THAT(set.series[1].values, ElementsAre(3, 4));
  EXPECT_EQ(set.series[1].label, "6");
}

TEST(ReadSeries, ReadsFoldersWithLabelsInPaths) {
  const TemporaryFolder folder;
  folder.write("yes/a.wav", wav_bytes(std::string(4, '\1')));
  folder.write("no/a.wav", wav_bytes(std::string(8, '\1')));
  const RealSeriesSet of_folders =
      read_labelled_series(folder.path(), options_of({.label_from = "folder"}));
  ASSERT_EQ(of_folders.series.size(), 2u);
  EXPECT_EQ(of_folders.series[0].label, "no");
  EXPECT_EQ(of_folders.series[0].name, "no/a.wav");
  EXPECT_EQ(of_folders.rows(1), 2u);
  EXPECT_EQ(label_of_path("b/up_left_2.csv", "name"), "up");
  EXPECT_EQ(label_of_path("b/plain.csv", "name"), "");

  folder.write("no/b.wav", wav_bytes(std::string(8, '\1'), {.rate = 44100}));
  EXPECT_THAT(message_of<DataError>([&] {
                read_labelled_series(folder.path(), options_of({.label_from = "folder"}));
              }),
              HasSubstr("no/b.wav: has 44100 samples a second, the files before 8000"));
}

TEST(ReadSeries, ReadsATableAsOneSeriesIfItsPathHoldsTheLabel) {
  const TemporaryFolder folder;
  const auto file = folder.write("walk_1.csv", "left,right\n1,2\n3,4\n");
  const RealSeriesSet set = read_labelled_series(file, options_of({.label_from = "name"}));
  EXPECT_EQ(set.channels, 2u);
  ASSERT_EQ(set.series.size(), 1u);
  EXPECT_THAT(set.series[0].values, ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(set.series[0].label, "walk");
}

}  // namespace read_series_test
}  // namespace bochner
