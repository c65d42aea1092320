#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/events/event_files.hpp>
#include <bochner/data/formats/csv.hpp>
#include <cmath>
#include <map>

#include "data/batches.hpp"
#include "data/messages.hpp"
#include "data/temporary_folder.hpp"

namespace bochner {
namespace event_files_test {

constexpr double epoch = 1.7e9;  // seconds since 1970

/// Returns events of type i modulo 3, at times that identify sequence and event.
EventTable sequence_of(std::size_t number, std::size_t events) {
  EventTable table{{{1, events}, {}}, Times(std::vector<std::size_t>{1, events}), {}};
  for (std::size_t i = 0; i < events; ++i) {
    table.times(0, i) = epoch + 1000 * double(number) + double(i) + 0.001;
    table.types.values.push_back(std::int32_t(i % 3));
  }
  return table;
}

std::vector<EventTable> sequences_of(const std::vector<std::size_t>& events) {
  std::vector<EventTable> sequences;
  for (const std::size_t count : events) sequences.push_back(sequence_of(sequences.size(), count));
  return sequences;
}

/// Counts how often each time is that of a predicted event.
std::map<double, int> predicted(const EventBatch& batch) {
  std::map<double, int> times;
  for (std::size_t i = 0; i < batch.times.size(); ++i) {
    EXPECT_LE(batch.times.data()[i], batch.next_times.data()[i]);
    if (batch.next_types.values[i] != -1) ++times[batch.next_times.data()[i]];
  }
  return times;
}

/// Expects events from, ..., to - 1 of a sequence, each once.
void expect_once(std::map<double, int> times, const EventTable& events, std::size_t from,
                 std::size_t to) {
  EXPECT_EQ(times.size(), to - from);
  for (std::size_t i = from; i < to; ++i) EXPECT_EQ(times[events.times(0, i)], 1) << i;
}

TEST(EventFiles, PredictEachEventOfOneSequenceOnce) {
  const auto sequences = sequences_of({20});
  const EventFiles files(sequences, {4, 0.25, 1});
  EXPECT_EQ(files.types(), 3u);
  EXPECT_EQ(files.words(),
            "1 sequence, 20 events of 3 types  ·  4 examples to train, 2 to validate");
  ASSERT_EQ(files.examples().train, 4u);
  ASSERT_EQ(files.examples().validation, 2u);
  expect_once(predicted(training_batch(files, 0, 4)), sequences[0], 1, 15);
  expect_once(predicted(training_batch(files, 4, 4)), sequences[0], 1, 15);  // the next epoch
  expect_once(predicted(held_out_batch(files, 0, 2)), sequences[0], 15, 20);
}

TEST(EventFiles, HoldOutTheLastOfSeveralSequences) {
  const auto sequences = sequences_of({6, 1, 3, 6});
  const EventFiles files(sequences, {10, 0.25, 1});
  ASSERT_EQ(files.examples().train, 2u);  // nothing follows a single event
  expect_once(predicted(held_out_batch(files, 0, 1)), sequences[3], 1, 6);
  const auto times = predicted(training_batch(files, 0, 2));
  EXPECT_EQ(times.size(), 7u);
  for (const auto& [time, count] : times) EXPECT_LT(time, sequences[3].times(0, 0));
}

TEST(EventFiles, HoldOutOneOfTwoSequences) {
  const EventFiles files(sequences_of({6, 6}), {10, 0.1, 1});
  EXPECT_EQ(files.examples().train, 1u);
  EXPECT_EQ(files.examples().validation, 1u);
}

TEST(EventFiles, PadTheEndsOfShorterWindows) {
  const EventBatch batch = training_batch(EventFiles(sequences_of({3, 5}), {10, 0, 1}), 0, 2);
  ASSERT_EQ(batch.types.shape, (Shape{2, 4}));
  const std::size_t row = batch.next_types.values[3] == -1 ? 0 : 1;
  const std::vector<std::int32_t> next(batch.next_types.values.begin() + 4 * row,
                                       batch.next_types.values.begin() + 4 * row + 4);
  EXPECT_EQ(next, (std::vector<std::int32_t>{1, 2, -1, -1}));
  EXPECT_EQ(batch.times(row, 1), epoch + 1.001);  // unchanged to the last bit
  for (const std::size_t t : {2, 3}) {
    EXPECT_EQ(batch.times(row, t), epoch + 2.001);
    EXPECT_EQ(batch.next_times(row, t), epoch + 2.001);
  }
}

TEST(EventFiles, HaveFingerprintsOfTheirOwn) {
  const auto print = [](std::vector<EventTable> sequences, const EventFilesSpec& spec) {
    return EventFiles(std::move(sequences), spec).fingerprint();
  };
  const std::uint64_t one = print(sequences_of({20}), {4, 0.25, 1});
  EXPECT_EQ(print(sequences_of({20}), {4, 0.25, 1}), one);
  EXPECT_NE(print(sequences_of({20}), {5, 0.25, 1}), one);
  EXPECT_NE(print(sequences_of({20}), {4, 0.25, 2}), one);
  auto changed = sequences_of({20});
  changed[0].times(0, 7) += 1e-6;
  EXPECT_NE(print(changed, {4, 0.25, 1}), one);
  changed = sequences_of({20});
  changed[0].types.values[7] = 0;
  EXPECT_NE(print(changed, {4, 0.25, 1}), one);
}

TEST(EventFiles, RefusePartsWithoutEvents) {
  const auto problem = [](const std::vector<std::size_t>& events, double validation) {
    return message_of<DataError>([&] { EventFiles(sequences_of(events), {4, validation, 1}); });
  };
  EXPECT_THAT(problem({1, 1}, 0), testing::StartsWith("there is no event to train on;"));
  EXPECT_THAT(problem({5, 1}, 0.5), testing::StartsWith("there is no event to validate on;"));
}

std::string error_of(const NamedArray& array, const EventColumns& columns = {}) {
  return message_or_none<DataError>([&] { event_tables(array, 3, columns); });
}

TEST(EventTable, FindsItsColumns) {
  const xt::xarray<double> values{{1, 5.5, 7}, {2, 6.5, 7}};
  const EventTable named = event_tables({values, {"type", "time", "other"}}, 3)[0];
  EXPECT_EQ(named.times(0, 1), 6.5);
  EXPECT_EQ(named.types.values, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(event_tables({values, {"a", "b", "c"}, 1}, 3)[0].times(0, 0), 5.5);
  const xt::xarray<double> plain{{0.5, 2}, {0.5, 0}};
  EXPECT_EQ(event_tables({plain, {}}, 3)[0].types.values, (std::vector<std::int32_t>{2, 0}));
}

TEST(EventFiles, PlacesGoWithTheirEvents) {
  EventTable sequence = sequence_of(0, 20);
  for (std::size_t i = 0; i < 40; ++i) sequence.places.push_back(double(i));
  const EventFiles files({sequence}, {4, 0.25, 1});
  EXPECT_EQ(files.dimensions(), 2u);
  const EventBatch batch = held_out_batch(files, 0, 2);
  ASSERT_EQ(batch.places.size(), 2 * batch.times.size());
  for (std::size_t i = 0; i < batch.times.size(); ++i)
    EXPECT_NEAR(batch.places[2 * i] / 2, batch.times.data()[i] - epoch, 0.01) << i;
  EXPECT_EQ(files.reach().origin, (std::vector<double>{0, 1}));
  EXPECT_EQ(files.reach().extent,
            (std::vector<double>{28, 28}));  // the extent of 15 training events
  EXPECT_NE(files.fingerprint(), EventFiles(sequences_of({20}), {4, 0.25, 1}).fingerprint());
}

TEST(EventTable, HasPlacesWhereItIsTold) {
  const xt::xarray<double> values{{1, 5.5, 7}, {2, 6.5, 8}};
  const NamedArray array{values, {"type", "time", "x"}};
  EventColumns columns;
  columns.places = {"x", "1"};
  EXPECT_EQ(event_tables(array, 3, columns)[0].places, (std::vector<double>{7, 1, 8, 2}));
  columns.places = {"y"};
  EXPECT_EQ(error_of(array, columns), "no column \"y\"; there are: \"type\", \"time\", \"x\"");
}

TEST(EventTable, TellsSequencesApart) {
  const xt::xarray<double> values{{7, 1, 5.5}, {3, 2, 1.5}, {7, 0, 6.5}, {3, 0, 1.5}};
  const NamedArray array{values, {"user", "kind", "at"}};
  const auto tables = event_tables(array, 3, {"at", "kind", "user"});
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].rows, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(tables[1].rows, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(tables[1].types.values, (std::vector<std::int32_t>{2, 0}));
  EXPECT_EQ(event_tables({values, {}}, 3, {"3", "2", "1"})[0].times(0, 1), 6.5);
  EXPECT_EQ(error_of(array, {"at", "kind", "session"}),
            "no column \"session\"; there are: \"user\", \"kind\", \"at\"");
  EXPECT_EQ(error_of({values, {}}, {"3", "2", "4"}), "no column \"4\"; there are: columns 1 to 3");
  EXPECT_EQ(error_of({values, {}}, {"time", "type", "", "1"}),
            "no column \"time\"; there are: columns 1 to 3");
}

TEST(EventTable, NamesTheEventThatIsWrong) {
  const auto with = [](double time, double type) {
    return NamedArray{xt::xarray<double>{{1, 0}, {time, type}}, {}};
  };
  EXPECT_EQ(error_of(with(1, 2)), "");
  EXPECT_EQ(error_of(with(0.5, 2)),
            "row 2: its time is before that of row 1; sort the rows by time");
  EXPECT_EQ(error_of(with(std::nan(""), 2)), "row 2: its time is missing");
  for (const double type : {3.0, -1.0, 0.5, std::nan(""), 1e300})
    EXPECT_EQ(error_of(with(2, type)), "row 2: its type must be a whole number from 0 to 2");
  EXPECT_EQ(error_of({xt::xarray<double>{1, 2, 3}, {}}),
            "events need a table with columns of times and of types");
}

/// Returns a table of times and text types.
NamedArray log_of(const std::vector<std::string>& types) {
  NamedArray array{xt::zeros<double>({types.size(), std::size_t(2)}), {"time", "type"}};
  std::vector<std::string>& texts = array.texts[1];
  for (std::size_t row = 0; row < types.size(); ++row) {
    const auto found = std::ranges::find(texts, types[row]);
    array.values(row, 0) = double(row);
    array.values(row, 1) = double(found - texts.begin());
    if (found == texts.end()) texts.push_back(types[row]);
  }
  return array;
}

std::vector<std::int32_t> types_in(NamedArray array, TableShape& shape, bool grow) {
  number_texts(array, {}, shape, grow ? NewTypes::append : NewTypes::refuse);
  return event_tables(array, 10, {})[0].types.values;
}

TEST(EventTexts, HaveOneNumberInAllTables) {
  TableShape shape;
  EXPECT_THAT(types_in(log_of({"in", "out", "in"}), shape, true), testing::ElementsAre(0, 1, 0));
  shape.width = 2;
  EXPECT_THAT(types_in(log_of({"off", "out", "in"}), shape, true), testing::ElementsAre(2, 1, 0));
  EXPECT_THAT(shape.types, testing::ElementsAre("in", "out", "off"));
  EXPECT_THAT(types_in(log_of({"off", "in"}), shape, false), testing::ElementsAre(2, 0));
  EXPECT_EQ(numbered_name("type", shape.types, 2), "type_off");
  EXPECT_EQ(numbered_name("type", {}, 2), "type_2");
}

TEST(EventTexts, AreThoseOfTheTraining) {
  TableShape shape;
  types_in(log_of({"in", "out"}), shape, true);
  shape.width = 2;
  EXPECT_THAT(message_of<DataError>([&] {
                types_in(log_of({"in", "up"}), shape, false);
              }),
              testing::HasSubstr(
                  "the model does not know the type \"up\"; it was trained on \"in\" and 1 more"));
  NamedArray numbers = log_of({"in", "out"});
  numbers.texts.clear();
  EXPECT_THAT(message_of<DataError>([&] { types_in(numbers, shape, false); }),
              testing::HasSubstr("types are numbers here and texts in the other data"));
  TableShape of_numbers{2, {}};
  EXPECT_THAT(message_of<DataError>([&] { types_in(log_of({"in"}), of_numbers, true); }),
              testing::HasSubstr("types are texts here and numbers in the other data"));
}

TEST(EventTexts, MayBeOthers) {
  TableShape shape;
  types_in(log_of({"in", "out"}), shape, true);
  shape.known_types = 2;
  NamedArray texts = log_of({"up", "out"});
  number_texts(texts, {}, shape, NewTypes::other);
  EXPECT_THAT(event_tables(texts, 3)[0].types.values, testing::ElementsAre(2, 1));
  TableShape of_numbers{.known_types = 3};
  NamedArray numbers{xt::xarray<double>{{0, 7}, {1, 2}}, {"time", "type"}};
  number_texts(numbers, {}, of_numbers, NewTypes::other);
  EXPECT_THAT(event_tables(numbers, 4)[0].types.values, testing::ElementsAre(3, 2));
}

TEST(EventTexts, MayBeNone) {
  const NamedArray times{xt::zeros<double>({3, 1}), {"time"}};
  EXPECT_THAT(event_tables(times, 1, {.type = ""})[0].types.values, testing::ElementsAre(0, 0, 0));
}

/// Nanoseconds since 1970 are not exact in double precision.
TEST(EventFiles, SayHowManyTimesFellTogether) {
  const std::string day = "2023-01-01T00:00:00.00000000";
  const std::string text = "time,type,who\n" + day + "0,0,1\n" + day + "1,1,1\n" + day + "2,0,2\n" +
                           day + "3,1,2\n" + day + "3,1,2\n";
  const NamedArray array = parse_csv(text, "events.csv", {});
  const EventFiles files(event_tables(array, 2, {.sequence = "who"}), {4, 0, 1});
  EXPECT_THAT(files.words(), testing::HasSubstr("of 2 types; 2 events at the time of the one "
                                                "before, because double precision cannot"));
}

}  // namespace event_files_test
}  // namespace bochner
