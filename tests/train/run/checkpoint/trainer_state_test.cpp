#include <gtest/gtest.h>

#include <bochner/train/run/checkpoint/trainer_state.hpp>
#include <limits>
#include <utility>

namespace bochner {
namespace trainer_state_test {

struct Anything {
  template <class T>
  operator T() const;
};

/// The number of members of an aggregate: the most initialisers it takes.
template <class T, class... Initialisers>
constexpr std::size_t count_members() {
  if constexpr (requires { T{Initialisers{}..., Anything{}}; }) {
    return count_members<T, Initialisers..., Anything>();
  } else {
    return sizeof...(Initialisers);
  }
}

struct CountingArchive {
  std::size_t count = 0;
  template <class... Members>
  void operator()(Members&...) {
    count += sizeof...(Members);
  }
};

template <class T>
std::size_t count_serialized() {
  CountingArchive archive;
  T().serialize(archive);
  return archive.count;
}

TEST(TrainerState, SavesEveryMember) {
  EXPECT_EQ(count_serialized<TrainerState>(), count_members<TrainerState>());
  EXPECT_EQ(count_serialized<BestCheckpoint>(), count_members<BestCheckpoint>());
}

TEST(TrainerState, AMemberThatIsNotSavedIsNoticed) {
  struct Forgetful {
    int saved = 0, forgotten = 0;
    void serialize(CountingArchive& archive) { archive(saved); }
  };
  EXPECT_NE(count_serialized<Forgetful>(), count_members<Forgetful>());
}

std::vector<std::uint64_t> best_steps(const std::vector<std::pair<std::uint64_t, double>>& history,
                                      std::size_t keep = 2) {
  TrainerState state;
  for (const auto& [step, metric] : history) {
    state.step = step;
    record_best(state, metric, keep);
  }
  std::vector<std::uint64_t> steps;
  for (const BestCheckpoint& entry : state.best) steps.push_back(entry.step);
  return steps;
}

TEST(RecordBest, KeepsTheLowestAndTheEarlierOfTies) {
  using Steps = std::vector<std::uint64_t>;
  EXPECT_EQ(best_steps({{1, 3.0}, {2, 1.0}, {3, 2.0}}), (Steps{2, 3}));
  EXPECT_EQ(best_steps({{1, 1.0}, {2, 1.0}, {3, 1.0}}), (Steps{1, 2}));
  EXPECT_EQ(best_steps({{1, 1.0}, {1, 5.0}, {2, 2.0}}), (Steps{2, 1}));
  EXPECT_EQ(best_steps({{1, std::numeric_limits<double>::quiet_NaN()}, {2, 4.0}}), (Steps{2}));
  EXPECT_EQ(best_steps({{1, 3.0}, {2, 1.0}, {3, 2.0}}, 0), (Steps{2}));
}

/// Patience counts on where nothing changes, and where less than the key asks for does.
TEST(RecordImprovement, IsByMoreThanItsKey) {
  const auto waited = [](double next, double min_delta) {
    TrainerState state;
    for (const double metric : {1.0, next}) record_improvement(state, metric, min_delta);
    return state.validations_since_improvement;
  };
  EXPECT_EQ(waited(1, 0), 1u);
  EXPECT_EQ(waited(0.75, 0), 0u);
  EXPECT_EQ(waited(0.75, 0.25), 1u);
  EXPECT_EQ(waited(0.5, 0.25), 0u);
  EXPECT_EQ(waited(std::numeric_limits<double>::quiet_NaN(), 0), 1u);
}

}  // namespace trainer_state_test
}  // namespace bochner
