#include <gtest/gtest.h>

#include <bochner/data/events/event_sequences.hpp>
#include <cmath>

#include "data/batches.hpp"
#include "data/mean_rate.hpp"

namespace bochner {
namespace event_sequences_test {

HawkesSpec small_spec(const std::string& kernel) { return {kernel, 3, 20, 0.7, 2}; }

TEST(HawkesEvents, HaveOneEventInAUnitOfTime) {
  for (const std::string& kernel : hawkes_kernels()) {
    double total = 0;
    for (const double rate : mean_rate(hawkes_process(small_spec(kernel)))) total += rate;
    EXPECT_NEAR(total, 1, 1e-12);
  }
}

TEST(HawkesEvents, TargetsAreTheNextEvents) {
  const HawkesEvents events(small_spec("delayed"), {3, 10, 5});
  const EventBatch batch = training_batch(events, 2, 4);
  EXPECT_EQ(batch.types.shape, (Shape{4, 20}));
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t t = 0; t + 1 < 20; ++t) {
      EXPECT_EQ(batch.next_times(row, t), batch.times(row, t + 1));
      EXPECT_EQ(batch.next_types.values[row * 20 + t], batch.types.values[row * 20 + t + 1]);
    }
    EXPECT_GT(batch.next_times(row, 19), batch.times(row, 19));
  }
  EXPECT_EQ(training_batch(events, 12, 1).times(0, 0), training_batch(events, 12, 2).times(0, 0));
  EXPECT_EQ(held_out_batch(events, 1, 3).types.shape, (Shape{2, 20}));
}

TEST(HawkesEvents, HaveFingerprintsOfTheirOwn) {
  const std::uint64_t one = HawkesEvents(small_spec("delayed"), {3, 10, 5}).fingerprint();
  EXPECT_EQ(HawkesEvents(small_spec("delayed"), {3, 10, 5}).fingerprint(), one);
  EXPECT_NE(HawkesEvents(small_spec("exponential"), {3, 10, 5}).fingerprint(), one);
  EXPECT_NE(HawkesEvents({"delayed", 3, 20, 0.7, 2.5}, {3, 10, 5}).fingerprint(), one);
}

/// Without excitation every gap is Exp(1) and every type equally likely.
TEST(EventTruth, OfAPoissonProcessIsKnown) {
  const HawkesEvents events({"exponential", 4, 30, 0, 1}, {3, 10, 5});
  const EventBatch batch = training_batch(events, 0, 6);
  const EventTruth truth = event_truth(*events.truth(), batch, 3);
  double span = 0;
  for (std::size_t i = 0; i < batch.times.size(); ++i)
    span += batch.next_times.data()[i] - batch.times.data()[i];
  EXPECT_NEAR(truth.time_nats, span, 1e-9);
  EXPECT_NEAR(truth.type_nats, 180 * std::log(4.0), 1e-9);
  for (const double intensity : truth.intensity) EXPECT_NEAR(intensity, 0.25, 1e-12);
}

/// The sums equal those of the process followed event by event, for any partition of the gaps.
TEST(EventTruth, DoesNotDependOnThePoints) {
  const HawkesEvents events(small_spec("delayed"), {3, 10, 5});
  const EventBatch batch = training_batch(events, 0, 2);
  const EventTruth one = event_truth(*events.truth(), batch, 1);
  const EventTruth many = event_truth(*events.truth(), batch, 7);
  EXPECT_NEAR(one.time_nats, many.time_nats, 1e-9);
  EXPECT_NEAR(one.type_nats, many.type_nats, 1e-9);
  for (std::size_t t = 0; t < 20; ++t)  // the middle of a gap is the fourth of seven points
    EXPECT_NEAR(one.intensity(1, t, 0, 2), many.intensity(1, t, 3, 2), 1e-12);
}

TEST(HawkesEvents, RefuseWhatIsNoProcess) {
  EXPECT_THROW(hawkes_process({"delayed", 3, 20, 1, 2}), std::invalid_argument);
  EXPECT_THROW(hawkes_process({"gaussian", 3, 20, 0.5, 2}), std::invalid_argument);
  EXPECT_THROW(hawkes_process({"delayed", 0, 20, 0.5, 2}), std::invalid_argument);
}

}  // namespace event_sequences_test
}  // namespace bochner
