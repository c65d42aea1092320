#include <gtest/gtest.h>

#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/layers/estimators/table_ensemble.hpp>
#include <cmath>
#include <numeric>
#include <set>

namespace bochner::inline BOCHNER_PRECISION {
namespace table_ensemble_test {

using Numbers = std::vector<double>;

/// Rows of three inputs, of which only the first matters, and a number with noise.
AnsweredRows noisy_line(std::size_t n, std::uint64_t seed) {
  Draws draws({seed});
  AnsweredRows rows{Columns(3), Columns(1)};
  for (std::size_t i = 0; i < n; ++i) {
    for (auto& column : rows.inputs) column.push_back(draws.normal());
    rows.answers[0].push_back(rows.inputs[0].back() + 0.5 * draws.normal());
  }
  return rows;
}

TableEnsembleSpec spec_of(std::size_t rows, std::vector<std::string> estimators = {"ridge"}) {
  return {.inputs = 3, .rows = rows, .groups = {0, 1, 2}, .estimators = std::move(estimators)};
}

TableContest contest_of(const AnsweredRows& rows, const TableEnsembleSpec& spec) {
  return compete(table_estimators(spec), rows, spec.groups, spec.seed);
}

TEST(HeldRowsOfTables, FoldsHoldAllRowsOnceAndAllClasses) {
  AnsweredRows rows = noisy_line(53, 1);
  rows.answers = Columns(2, Numbers(53));
  for (std::size_t i = 0; i < 53; ++i) rows.answers[i < 10 ? 1 : 0][i] = 1;
  const HeldRows held = held_rows(rows, 1);
  EXPECT_EQ(held.size(), count_held_rows(53));
  std::set<std::size_t> all;
  for (const auto& fold : held.folds) {
    all.insert(fold.begin(), fold.end());
    EXPECT_EQ(std::ranges::count_if(fold, [](std::size_t row) { return row < 10; }), 2);
  }
  EXPECT_EQ(all.size(), 53u);
  for (const std::size_t n : {3000u, 3001u, 12345u})
    EXPECT_EQ(held_rows(noisy_line(n, 1), 1).size(), count_held_rows(n)) << n;
}

TEST(StackingWeights, CombineErrorsThatCancel) {
  const Columns truth = {{1, 2, 3, 4}}, above = {{2, 3, 4, 5}}, below = {{0, 1, 2, 3}};
  const Numbers weights = stacking_weights({{{9, 9, 9, 9}}, above, below}, truth);
  EXPECT_NEAR(weights[0], 0, 1e-2);
  EXPECT_NEAR(weights[1], 0.5, 1e-2);
  EXPECT_EQ(stacking_weights({above, truth, {{9, 9, 9, 9}}}, truth), (Numbers{0, 1, 0}));
}

TEST(StackingWeights, OfClassesAreLikeliest) {
  const Columns answers = {{1, 1, 1, 0}, {0, 0, 0, 1}};
  const Columns good = {{0.9, 0.9, 0.9, 0.1}, {0.1, 0.1, 0.1, 0.9}},
                bad = {{0.1, 0.1, 0.1, 0.9}, {0.9, 0.9, 0.9, 0.1}};
  EXPECT_NEAR(stacking_weights({good, bad}, answers)[0], 1, 1e-6);
}

TEST(TableContest, FindsWhatMattersAndTheNoise) {
  const TableContest contest = contest_of(noisy_line(400, 1), spec_of(400));
  EXPECT_NEAR(contest.loss, 0.5, 0.05);
  EXPECT_NEAR(contest.losses[0], std::sqrt(1.25), 0.1) << "the mean";
  EXPECT_GT(contest.weights[1], 0.9);
  EXPECT_GT(contest.importance[0], 0.5);
  EXPECT_NEAR(contest.importance[1], 0, 0.05);
}

/// The share of fresh errors within the bands is near their level.
TEST(TableEnsemble, BandsCoverWhatTheySay) {
  const AnsweredRows rows = noisy_line(500, 1), more = noisy_line(2000, 2);
  TableEnsemble ensemble(spec_of(500));
  ensemble.fit(rows);
  const RowEstimates estimates = ensemble.estimate(rows, more.inputs);
  double inner = 0, outer = 0;
  for (std::size_t i = 0; i < 2000; ++i) {
    const double error = std::abs(more.answers[0][i] - estimates.values[0][i]);
    inner += error <= estimates.deviations[i];
    outer += error <= estimates.deviations[i] * ensemble.band_ratio();
  }
  EXPECT_NEAR(inner / 2000, 0.8, 0.04);
  EXPECT_NEAR(outer / 2000, 0.95, 0.025);
}

TEST(TableEnsemble, KeepsWhatTheContestFound) {
  const AnsweredRows rows = noisy_line(60, 1);
  TableEnsemble ensemble(spec_of(60));
  ensemble.fit(rows);
  const TableContest kept = ensemble.contest(), found = contest_of(rows, spec_of(60));
  EXPECT_EQ(kept.rows, found.rows);
  EXPECT_NEAR(kept.loss, found.loss, 1e-6);
  EXPECT_NEAR(kept.held.values[0][7], found.held.values[0][7], 1e-5);
  EXPECT_NEAR(kept.bands[1], found.bands[1], 1e-5);
}

TEST(TableEnsemble, AnswersWithTheMeanUntilItIsFitted) {
  const TableEnsemble ensemble(spec_of(20));
  EXPECT_EQ(ensemble.estimate(noisy_line(20, 1), Columns(3, Numbers(2))).values[0], Numbers(2));
}

TEST(TableEnsemble, NeedsRows) {
  EXPECT_THROW(contest_of(noisy_line(9, 1), spec_of(9)), std::invalid_argument);
  EXPECT_NO_THROW(contest_of(noisy_line(10, 1), spec_of(10)));
}

std::vector<Numbers> fitted(std::size_t threads) {
  set_thread_count(threads);
  TableEnsemble ensemble(spec_of(60, {"ridge", "gaussian", "additive"}));
  ensemble.fit(noisy_line(60, 1));
  std::vector<Numbers> buffers;
  for (const NamedTensor& named : buffers_of(ensemble))
    buffers.emplace_back(named.tensor->begin(), named.tensor->end());
  set_thread_count(0);
  return buffers;
}

TEST(TableEnsemble, HasTheSameBitsForAnyNumberOfThreads) { EXPECT_EQ(fitted(1), fitted(3)); }

TEST(TableEnsemble, HasMembersOfItsAnswers) {
  TableEnsembleSpec spec = spec_of(20, estimator_names());
  EXPECT_GT(table_estimators(spec).size(), 4u);
  spec.classes = 3;
  for (const NamedEstimator& member : table_estimators(spec)) EXPECT_NE(member.name, "ridge");
}

}  // namespace table_ensemble_test
}  // namespace bochner::inline BOCHNER_PRECISION
