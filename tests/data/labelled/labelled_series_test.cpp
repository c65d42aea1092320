#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/labelled/labelled_series.hpp>

namespace bochner {
namespace labelled_series_test {

using testing::ElementsAre;

/// Ten series of each label; the first value is the number of the series.
RealSeriesSet ten_of_each(const std::vector<std::string>& labels, std::size_t channels = 1) {
  RealSeriesSet set{.channels = channels};
  for (std::size_t i = 0; i < 10 * labels.size(); ++i)
    set.series.push_back(
        {std::vector<float>(channels * (3 + i % 2), float(i)), labels[i % labels.size()]});
  return set;
}

TEST(LabelledSeries, HoldsOutInTheProportionsOfTheClasses) {
  const LabelledSeries data(ten_of_each({"10", "9", "b"}), {}, {.validation = 0.2});
  EXPECT_THAT(data.classes(), ElementsAre("9", "10", "b"));
  EXPECT_EQ(data.examples(Split::train), 24u);
  EXPECT_EQ(data.length(), 4u);
  std::vector<std::size_t> held(3);
  for (std::uint64_t i = 0; i < data.examples(Split::validation); ++i)
    ++held[std::size_t(data.example(Split::validation, i).label)];
  EXPECT_THAT(held, ElementsAre(2, 2, 2));
}

TEST(LabelledSeries, TrainsOnEachSeriesOnce) {
  const LabelledSeries data(ten_of_each({"a", "b"}), {}, {.validation = 0.3});
  std::vector<float> seen;
  for (const Split split : {Split::train, Split::validation})
    for (std::uint64_t i = 0; i < data.examples(split); ++i) {
      const LabelledSeries::Example one = data.example(split, i);
      EXPECT_EQ(one.label, std::int32_t(one.values[0]) % 2);
      seen.push_back(one.values[0]);
    }
  std::ranges::sort(seen);
  EXPECT_EQ(seen.size(), 20u);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST(LabelledSeries, NumbersKnownClassesFirst) {
  const LabelledSeries data(ten_of_each({"a", "b"}), ten_of_each({"b"}), {.classes = {"z", "b"}});
  EXPECT_THAT(data.classes(), ElementsAre("z", "b", "a"));
  EXPECT_EQ(data.example(Split::test, 3).label, 1);
}

TEST(LabelledSeries, ReadsNumbers) {
  const LabelledSeries data(ten_of_each({"0.5", "-2"}), ten_of_each({"1e3"}),
                            {.validation = 0.2, .numbers = true});
  EXPECT_TRUE(data.classes().empty());
  EXPECT_EQ(data.examples(Split::train), 16u);
  for (std::uint64_t i = 0; i < 16; ++i) {
    const LabelledSeries::Example one = data.example(Split::train, i);
    EXPECT_EQ(one.number, std::int32_t(one.values[0]) % 2 ? -2 : 0.5);
  }
  EXPECT_EQ(data.example(Split::test, 3).number, 1000);
}

TEST(LabelledSeries, SaysThatIrregularTimesAreNotUsed) {
  RealSeriesSet set = ten_of_each({"a", "b"});
  set.series[0].times = {0, 1, 2};
  EXPECT_THAT(LabelledSeries(set, {}, {}).words(), testing::Not(testing::HasSubstr("times")));
  set.series[1].times = {0, 1, 3, 4};
  EXPECT_THAT(LabelledSeries(set, {}, {}).words(),
              testing::HasSubstr("1 series have irregular times, which are not used"));
}

TEST(LabelledSeries, RefusesWhatCannotBeLearned) {
  const auto why = [](const char* words) {
    return testing::ThrowsMessage<DataError>(testing::HasSubstr(words));
  };
  EXPECT_THAT([] { LabelledSeries(ten_of_each({"a"}), {}, {}); }, why("all series have the label"));
  EXPECT_THAT([] { LabelledSeries(ten_of_each({"a", ""}), {}, {}); }, why("without a label"));
  EXPECT_THAT(
      [] {
        LabelledSeries(ten_of_each({"1", "b"}), {}, {.numbers = true});
      },
      why("which is not a number"));
  EXPECT_THAT(
      [] {
        LabelledSeries(ten_of_each({"a", "b"}), ten_of_each({"c"}), {});
      },
      why("which no series of data.files has"));
  EXPECT_THAT(
      [] {
        LabelledSeries(ten_of_each({"a", "b"}), ten_of_each({"a"}, 2), {});
      },
      why("series of 2 channels; data.files have 1"));
  RealSeriesSet recordings = ten_of_each({"a", "b"});
  recordings.rate = 8000;
  EXPECT_THAT([&] { LabelledSeries(recordings, ten_of_each({"a"}), {}); },
              why("data.test_files: 0 samples a second; data.files have 8000"));
}

}  // namespace labelled_series_test
}  // namespace bochner
