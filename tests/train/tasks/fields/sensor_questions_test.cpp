#include <gmock/gmock.h>

#include <bochner/train/tasks/fields/sensor_questions.hpp>
#include <limits>

namespace bochner {
namespace sensor_questions_test {

using testing::ElementsAre;

/// Readings of one sensor at whole times, some missing.
SensorTable readings(std::size_t count, const std::vector<std::size_t>& missing) {
  SensorTable table;
  table.dimensions = table.variates = 1;
  for (std::size_t row = 0; row < count; ++row) {
    table.rows.push_back(row);
    table.times.push_back(double(row));
    table.places.push_back(0);
    table.values.push_back(double(row));
  }
  for (const std::size_t row : missing)
    table.values[row] = std::numeric_limits<double>::quiet_NaN();
  return table;
}

/// Windows of six readings, two of which are asked for.
SensorSpec spec_of(const std::string& ask) { return {.length = 6, .asked = 0.34, .ask = ask}; }

TEST(SensorQuestions, ShowTheReadingsNearestToEachRow) {
  const auto questions = questions_of(readings(20, {4, 12}), spec_of("any"));
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_THAT(questions[0].rows, ElementsAre(2, 3, 4, 5, 6));
  EXPECT_THAT(questions[0].asked, ElementsAre(false, false, true, false, false));
  EXPECT_THAT(questions[1].rows, ElementsAre(10, 11, 12, 13, 14));
  EXPECT_EQ(alike(questions, 1), 1u);
  EXPECT_EQ(alike(questions, 8), 2u);
}

TEST(SensorQuestions, ShowTheLatestReadingsOfEachForecast) {
  const auto questions = questions_of(readings(20, {9, 10, 11, 13}), spec_of("last"));
  ASSERT_EQ(questions.size(), 3u);
  EXPECT_THAT(questions[0].rows, ElementsAre(5, 6, 7, 8, 9, 10));  // two at once, as in training
  EXPECT_THAT(questions[1].rows, ElementsAre(5, 6, 7, 8, 11));
  EXPECT_THAT(questions[2].rows, ElementsAre(6, 7, 8, 12, 13));
  EXPECT_EQ(alike(questions, 8), 1u);
}

TEST(SensorQuestions, AskTogetherWhatHasTheSameReadings) {
  SensorTable table = readings(10, {4, 5});
  table.times[5] = table.times[4];
  const auto questions = questions_of(table, spec_of("any"));
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_THAT(questions[0].rows, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(SensorQuestions, BatchesHideWhatIsAskedFor) {
  const SensorTable table = readings(20, {4, 12});
  const SensorBatch batch = batch_of(table, questions_of(table, spec_of("any")));
  EXPECT_EQ(batch.values.shape(), (Shape{2, 5, 1}));
  EXPECT_THAT(batch.times, ElementsAre(0, 1, 2, 3, 4, 0, 1, 2, 3, 4));
  EXPECT_EQ(batch.seen(1, 2, 0), 0);
  EXPECT_EQ(batch.values(1, 3, 0), 13);
}

}  // namespace sensor_questions_test
}  // namespace bochner
