#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/events/event_files.hpp>

#include "data/batches.hpp"
#include "data/messages.hpp"

namespace bochner {
namespace labelled_events_test {

/// Sequences 7, 8 and 9 of 3, 1 and 2 events, interleaved; columns time, type, sequence and label.
NamedArray table() {
  return {
      {{10, 1, 7, 2}, {11, 0, 8, 0}, {12, 2, 7, 2}, {13, 0, 9, 1}, {14, 1, 9, 1}, {15, 0, 7, 2}},
      {"time", "type", "who", "ill"}};
}

std::vector<EventTable> sequences() {
  return event_tables(table(), 3, {"time", "type", "who", "ill"});
}

TEST(LabelledEvents, AreWholeSequencesAtTheirTimes) {
  const LabelledEvents data(sequences(), {8, 0.3, 1, false});
  EXPECT_EQ(data.vocabulary(), 3u);
  EXPECT_EQ(data.classes(), 3u);
  EXPECT_EQ(data.length(), 3u);
  EXPECT_EQ(data.words(),
            "3 sequences of events of 3 types, 3 classes  ·  2 examples to train, 1 to validate");
  const LabelledBatch batch = batch_in_order(data, Split::train, 0, 2);
  EXPECT_EQ(batch.tokens.values, (std::vector<std::int32_t>{1, 2, 0, 0, 0, 0}));
  EXPECT_EQ(batch.lengths, (std::vector<std::size_t>{3, 1}));
  EXPECT_EQ(batch.labels.values, (std::vector<std::int32_t>{2, 0}));
  EXPECT_EQ(batch.times, (Times{{10, 12, 15}, {11, 11, 11}}));
  const LabelledBatch held = held_out_batch(data, 0, 1);
  EXPECT_EQ(held.labels.values, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(held.times, (Times{{13, 14}}));
}

TEST(LabelledEvents, ShowTheLastEventsBehindTheClassToken) {
  const LabelledEvents data(sequences(), {2, 0.3, 1, true});
  EXPECT_EQ(data.vocabulary(), 4u);
  EXPECT_EQ(data.length(), 3u);
  const LabelledBatch batch = batch_in_order(data, Split::train, 0, 1);
  EXPECT_EQ(batch.tokens.values, (std::vector<std::int32_t>{3, 2, 0}));
  EXPECT_EQ(batch.times, (Times{{12, 12, 15}}));
}

TEST(LabelledEvents, TellThemselvesApart) {
  const LabelledEventsSpec spec{8, 0.3, 1, false};
  const auto changed = [&](auto change) {
    std::vector<EventTable> other = sequences();
    change(other[1]);
    return LabelledEvents(other, spec).fingerprint();
  };
  const std::uint64_t whole = LabelledEvents(sequences(), spec).fingerprint();
  EXPECT_EQ(changed([](EventTable&) {}), whole);
  EXPECT_NE(changed([](EventTable& events) { events.label = 1; }), whole);
  EXPECT_NE(changed([](EventTable& events) { events.times(0, 0) += 1; }), whole);
  EXPECT_NE(changed([](EventTable& events) { events.types.values[0] = 1; }), whole);
}

TEST(LabelledEvents, SayWhatIsWrong) {
  const EventColumns columns{"time", "type", "who", "ill"};
  const auto error = [&](std::size_t row, std::size_t column, double value) {
    NamedArray wrong = table();
    wrong.values(row, column) = value;
    return message_of<DataError>([&] { event_tables(wrong, 3, columns); });
  };
  EXPECT_EQ(error(2, 3, 1), "row 3: its label is not that of row 1 of the same sequence");
  for (const double label : {-1.0, 0.5, 65536.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(error(1, 3, label), "row 2: its label must be a whole number from 0 to 65535");
  EXPECT_THAT(message_of<DataError>([&] {
                event_tables(table(), 3, {"time", "type", "who", "x"});
              }),
              testing::HasSubstr("no column \"x\""));
  EXPECT_THAT(message_of<DataError>([&] { LabelledEvents({sequences()[0]}, {}); }),
              testing::HasSubstr("a classifier needs two sequences"));
  std::vector<EventTable> same = sequences();
  for (EventTable& events : same) events.label = 0;
  EXPECT_EQ(message_of<DataError>([&] { LabelledEvents(same, {}); }),
            "all labels are 0; a classifier needs two of them, from 0 on");
}

}  // namespace labelled_events_test
}  // namespace bochner
