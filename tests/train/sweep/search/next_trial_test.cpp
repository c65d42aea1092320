#include <gmock/gmock.h>

#include <bochner/base/text.hpp>
#include <bochner/train/sweep/search/next_trial.hpp>
#include <cmath>
#include <numbers>

namespace bochner {
namespace next_trial_test {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using Function = double (*)(const std::vector<double>&);

/// Three equal minima of 0.397887. Dixon and Szego, 1978.
double branin(const std::vector<double>& x) {
  constexpr double pi = std::numbers::pi;
  const double bend = x[1] - 5.1 / (4 * pi * pi) * x[0] * x[0] + 5 / pi * x[0] - 6;
  return bend * bend + 10 * (1 - 1 / (8 * pi)) * std::cos(x[0]) + 10;
}

/// A minimum of -3.32237 in the unit cube.
double hartmann6(const std::vector<double>& x) {
  constexpr double heights[] = {1, 1.2, 3, 3.2};
  constexpr double rates[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                  {0.05, 10, 17, 0.1, 8, 14},
                                  {3, 3.5, 1.7, 10, 17, 8},
                                  {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double places[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                   {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                   {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                   {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    double squares = 0;
    for (int j = 0; j < 6; ++j) {
      const double difference = x[std::size_t(j)] - places[i][j];
      squares += rates[i][j] * difference * difference;
    }
    sum -= heights[i] * std::exp(-squares);
  }
  return sum;
}

Space box(std::size_t axes, const char* range) {
  std::vector<Variation> variations;
  for (std::size_t i = 0; i < axes; ++i)
    variations.push_back(parse_variation("x" + std::to_string(i) + "=" + range));
  return Space(variations);
}
Space branin_box() { return Space({parse_variation("x=-5..10"), parse_variation("y=0..15")}); }

/// Trials and what came out.
std::vector<Tried> searched(const SearchSpec& spec, const Space& space, Function f,
                            std::size_t trials) {
  std::vector<Tried> all;
  for (std::size_t i = 0; i < trials; ++i) {
    const Values values = next_trial(spec, space, all).value();
    std::vector<double> x;
    for (const std::string& value : values) x.push_back(*parse_number(value));
    all.push_back({values, {{f(x)}}});
  }
  return all;
}

double lowest(const std::vector<Tried>& trials) {
  double lowest = INFINITY;
  for (const Tried& trial : trials)
    if (!trial.failed) lowest = std::min(lowest, trial.reached.back().front());
  return lowest;
}

double mean_regret(SearchKind kind, const Space& space, Function f, std::size_t trials,
                   double optimum) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    sum += lowest(searched({kind, seed}, space, f, trials)) - optimum;
  return sum / 3;
}

// Random search is at 1.5 after 30 trials, with a spread of 1 over seeds.
TEST(Propose, FindsAMinimumOfBranin) {
  EXPECT_LT(mean_regret(SearchKind::bayes, branin_box(), branin, 30, 0.397887), 0.05);
  EXPECT_GT(mean_regret(SearchKind::random, branin_box(), branin, 30, 0.397887), 0.1);
}

// Random search is at 1.3 after 50 trials.
TEST(Propose, FindsTheMinimumOfHartmann) {
  const Space cube = box(6, "0..1");
  EXPECT_LT(mean_regret(SearchKind::bayes, cube, hartmann6, 45, -3.32237), 0.4);
  EXPECT_GT(mean_regret(SearchKind::random, cube, hartmann6, 45, -3.32237), 0.8);
}

TEST(Propose, IsAFunctionOfSeedAndTrialsBefore) {
  for (const SearchKind kind : {SearchKind::random, SearchKind::sobol, SearchKind::bayes}) {
    const auto all = searched({kind, 4}, branin_box(), branin, 14);
    for (const std::size_t begun : {3, 9, 12, 13}) {
      const std::vector<Tried> before(all.begin(), all.begin() + std::ptrdiff_t(begun));
      EXPECT_EQ(next_trial({kind, 4}, branin_box(), before), all[begun].values);
      if (kind == SearchKind::bayes && begun >= initial_trials) continue;
      EXPECT_NE(next_trial({kind, 5}, branin_box(), before), all[begun].values);
    }
  }
}

TEST(Propose, SobolPointsFillTheSpaceEvenly) {
  const auto all = searched({SearchKind::sobol, 1}, box(2, "0..1"), branin, 64);
  std::vector<int> cells(16);
  for (const Tried& trial : all)
    ++cells[std::size_t(4 * *parse_number(trial.values[0])) +
            4 * std::size_t(4 * *parse_number(trial.values[1]))];
  EXPECT_THAT(cells, Each(4));
}

TEST(Propose, TriesEveryPointOnceAndEnds) {
  const Space space({parse_variation("kind=a,b"), parse_variation("m=1,2,3 if kind=a"),
                     parse_variation("k=1,2 if kind=b")});
  for (const SearchKind kind : {SearchKind::random, SearchKind::sobol, SearchKind::bayes}) {
    std::vector<Tried> all;
    while (const auto values = next_trial({kind, 1}, space, all)) {
      for (const Tried& trial : all) ASSERT_NE(trial.values, *values);
      all.push_back({*values, {{double(all.size())}}});
    }
    EXPECT_EQ(all.size(), 5u);
  }
}

TEST(Propose, FindsTheOnlyPointThatIsLeft) {
  Variation many = parse_variation("m=1..200000");
  many.range->whole = true;
  const Space space({parse_variation("kind=a,b"), many, parse_variation("k=1,2 if kind=b")});
  EXPECT_EQ(space.find_unknown({0.9, 1, 0.1}, {{"b", "200000", "1"}, {"b", "200000", "2"}}),
            (Values{"b", "1", "1"}));
  EXPECT_EQ(space.find_unknown({0.1, 1, 0.1}, {}), (Values{"a", "200000", ""}));
  const Space one({many});
  std::vector<Tried> but_seven;
  for (int m = 1; m <= 200000; ++m)
    if (m != 7) but_seven.push_back({{std::to_string(m)}, {{0.0}}});
  for (const SearchKind kind : {SearchKind::random, SearchKind::sobol})
    EXPECT_EQ(next_trial({kind, 1}, one, but_seven), Values{"7"});
  but_seven.push_back({{"7"}, {{0.0}}});
  EXPECT_EQ(next_trial({SearchKind::random, 1}, one, but_seven), std::nullopt);
}

TEST(Propose, LearnsFromFailedTrials) {
  // Where x > 0.5 all fails; the best is near 0.45.
  const Space space = box(1, "0..1");
  std::vector<Tried> all;
  std::size_t failed = 0;
  for (int i = 0; i < 25; ++i) {
    const Values values = next_trial({SearchKind::bayes, 2}, space, all).value();
    const double x = *parse_number(values[0]);
    const bool fails = x > 0.5;
    if (i >= 10) failed += fails;
    all.push_back({values, {}, fails});
    if (!fails) all.back().reached = {{(x - 0.45) * (x - 0.45)}};
  }
  EXPECT_LE(failed, 5u);
  EXPECT_LT(lowest(all), 1e-4);
}

TEST(Propose, KeepsAwayFromWhatRuns) {
  auto all = searched({SearchKind::bayes, 1}, branin_box(), branin, 15);
  const Values first = next_trial({SearchKind::bayes, 1}, branin_box(), all).value();
  all.push_back({first});  // running
  const Values second = next_trial({SearchKind::bayes, 1}, branin_box(), all).value();
  EXPECT_GT(std::fabs(*parse_number(first[0]) - *parse_number(second[0])) +
                std::fabs(*parse_number(first[1]) - *parse_number(second[1])),
            0.3);
}

TEST(Importance, IsThatOfASum) {
  // Var(3 x) : Var(y) : 0 = 9 : 1 : 0 on the unit cube.
  const auto sum = [](const std::vector<double>& x) { return 3 * x[0] + x[1]; };
  const Space space = box(3, "0..1");
  const SearchSpec spec{SearchKind::sobol, 1};
  const auto surrogate = surrogate_of(spec, space, searched(spec, space, sum, 40));
  ASSERT_TRUE(surrogate);
  const std::vector<double> effects = importance(space, *surrogate);
  EXPECT_NEAR(effects[0], 0.9, 0.03);
  EXPECT_NEAR(effects[1], 0.1, 0.03);
  EXPECT_NEAR(effects[2], 0, 0.01);
}

TEST(Rungs, EndAtTheWholeTraining) {
  EXPECT_THAT(rungs_of(270, 3, 10, 10), ElementsAre(10, 30, 90, 270));
  EXPECT_THAT(rungs_of(100, 3, 3, 5), ElementsAre(5, 15, 35, 100));
  EXPECT_THAT(rungs_of(8, 4, 1, 2), ElementsAre(2, 8));
  EXPECT_THAT(rungs_of(10, 3, 10, 10), ElementsAre(10));
}

TEST(Rungs, AreThreeBelowTheEndIfNoneIsShortest) {
  EXPECT_THAT(rungs_of(1000, 3, 0, 1), ElementsAre(38, 112, 334, 1000));
  EXPECT_THAT(rungs_of(1000, 3, 0, 100), ElementsAre(100, 200, 400, 1000));
  EXPECT_THAT(rungs_of(1000, 3.3, 0, 1), ElementsAre(28, 92, 304, 1000));
  EXPECT_THAT(rungs_of(5, 3, 0, 1), ElementsAre(1, 2, 5));
}

TEST(NextPromotion, IsOneOfTheBestThird) {
  std::vector<TrialProgress> trials(6);
  for (std::size_t i = 0; i < 6; ++i) trials[i] = {{double((i * 5) % 6)}, true};  // 0 5 4 3 2 1
  EXPECT_EQ(next_promotion(trials, 3, 3, false), 0u);
  trials[0].waits = false;
  EXPECT_EQ(next_promotion(trials, 3, 3, false), 5u);
  trials[5].waits = false;
  EXPECT_EQ(next_promotion(trials, 3, 3, false), std::nullopt);
  // On the next rung one is too few, unless it is the end.
  trials[0] = {{0, 0.5}, true};
  EXPECT_EQ(next_promotion(trials, 3, 3, false), std::nullopt);
  EXPECT_EQ(next_promotion(trials, 3, 3, true), 0u);
  trials[0] = {{0, 0.5, 0.4}, false};
  EXPECT_EQ(next_promotion(trials, 3, 3, true), std::nullopt);
  // A trial that failed counts among those that came, and is none of the best.
  trials[0] = {{0, std::nan("")}, false};
  EXPECT_EQ(next_promotion(trials, 3, 3, true), 4u);
}

TEST(ExpectedScores, AreThoseOfTheHighestRung) {
  // From rung to rung 1, 4 and 2 less, then 0.5 less.
  const std::vector<TrialProgress> trials{{{9.0}}, {{8.0, 7.0}},      {{9.0, 5.0}},
                                          {},      {{6.0, 4.0, 3.5}}, {{7.0, std::nan("")}}};
  const auto expected = expected_scores(trials);
  const double spread = (1 + 4 + 0) / 2.0;
  const double scores[] = {9 - 2 - 0.5, 7 - 0.5, 5 - 0.5, NAN, 3.5, NAN};
  const double variances[] = {spread, 0, 0, spread, 0, 0};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_THAT(expected[i].score, testing::NanSensitiveDoubleEq(scores[i])) << i;
    EXPECT_EQ(expected[i].variance, variances[i]) << i;
  }
  EXPECT_EQ(expected_scores({{{2.0}}, {{1.0}}})[0].score, 2) << "none went on";
}

/// Hartmann's function after `steps` of 200: too high before the end, here more than there.
double unfinished_hartmann(const std::vector<double>& x, std::uint64_t steps) {
  const double left = 200.0 / double(steps) - 1;
  return hartmann6(x) + 0.15 * left * (1 + 0.5 * std::sin(6 * x[0] + 3 * x[3]));
}

/// The lowest score at the end that a search with early stopping finds in so many steps; f(x,
/// step).
template <class Function>
double lowest_with_halving(const Space& space, const std::vector<std::uint64_t>& rungs,
                           std::uint64_t seed, std::uint64_t most_steps, const Function& f) {
  const SearchSpec spec{SearchKind::bayes, seed, rungs.size()};
  std::vector<Tried> all;
  std::vector<TrialProgress> progress;
  double lowest = INFINITY;
  for (std::uint64_t steps = 0; steps < most_steps;) {
    const auto promoted =
        next_promotion(extrapolated(spec, space, all, progress), rungs.size(), 3, false);
    const std::size_t trial = promoted.value_or(all.size());
    if (!promoted) {
      all.push_back({next_trial(spec, space, all).value()});
      progress.push_back({{}, true});
    }
    const std::size_t rung = progress[trial].scores.size();
    std::vector<double> x;
    for (const std::string& value : all[trial].values) x.push_back(*parse_number(value));
    const double score = f(x, rungs[rung]);
    steps += rungs[rung] - (rung > 0 ? rungs[rung - 1] : 0);
    progress[trial].scores.push_back(score);
    progress[trial].waits = rung + 1 < rungs.size();
    all[trial].reached.push_back({score});
    if (!progress[trial].waits) lowest = std::min(lowest, score);
  }
  return lowest;
}

// The steps are those of 24 whole trainings. Over twenty seeds the regrets are 0.23 and 0.72.
TEST(Propose, FindsMoreInTheSameStepsWithEarlyStopping) {
  const Space cube = box(6, "0..1");
  const std::vector<std::uint64_t> rungs = rungs_of(200, 3, 20, 20);
  double regret = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    regret += (lowest_with_halving(cube, rungs, seed, 4800, unfinished_hartmann) + 3.32237) / 3;
  const double without = mean_regret(SearchKind::bayes, cube, hartmann6, 24, -3.32237);
  EXPECT_LT(regret, 0.6 * without) << without;
}

// A first rung as wavy as the bowl is deep. Where its ranks decide, the mean of twenty seeds is
// 0.018, and 0.009 if proposals know at least how little it says.
TEST(Propose, ListensToARungAsFarAsItTellsOfTheEnd) {
  const auto bowl = [](const std::vector<double>& x, std::uint64_t step) {
    const double end = (x[0] - 0.3) * (x[0] - 0.3) + (x[1] - 0.7) * (x[1] - 0.7);
    return step == 120 ? end : end + 1 + 0.5 * std::sin(60 * x[0] + 45 * x[1]);
  };
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    EXPECT_LT(lowest_with_halving(box(2, "0..1"), {40, 120}, seed, 3600, bowl), 2e-4) << seed;
}

/// Ranks are those of the process, but trials that failed stay so.
TEST(Believed, AreScoresOfTheProcess) {
  const Space space = box(1, "0..1");
  std::vector<Tried> tried;
  std::vector<TrialProgress> progress;
  for (int i = 0; i < 12; ++i) {
    const double x = (i + 0.5) / 12;
    tried.push_back({{std::to_string(x)}, {{x}}, i == 5});
    progress.push_back({{i == 5 ? NAN : x}, true});
  }
  const auto scores = extrapolated({SearchKind::bayes, 1, 2}, space, tried, progress);
  const auto surrogate = surrogate_of({SearchKind::bayes, 1, 2}, space, tried);
  ASSERT_TRUE(surrogate);
  EXPECT_EQ(scores[3].scores[0], surrogate->mean(space.place(tried[3].values)));
  EXPECT_TRUE(std::isnan(scores[5].scores[0]));
  EXPECT_TRUE(scores[3].waits);
  EXPECT_EQ(extrapolated({SearchKind::random, 1, 2}, space, tried, progress)[3].scores[0],
            3.5 / 12);
  tried.resize(1);  // too few for a process
  progress.resize(1);
  EXPECT_EQ(extrapolated({SearchKind::bayes, 1, 2}, space, tried, progress)[0].scores[0], 0.5 / 12);
}

TEST(ParetoFront, HasWhatNoneBeats) {
  EXPECT_THAT(pareto_front({{1, 5}, {2, 4}, {2, 5}, {}, {5, 1}, {2, 4}}), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(pareto_front({}), IsEmpty());
}

TEST(Scalarised, IsSmallestOnTheFrontAllOverIt) {
  std::vector<Scores> trials;
  for (int i = 0; i <= 10; ++i) trials.push_back({double(i), double((10 - i) * (10 - i))});
  trials.push_back({11, 120});
  std::vector<int> chosen(trials.size());
  for (std::uint64_t number = 0; number < 200; ++number) {
    const std::vector<double> scores = scalarised(trials, 1, number);
    ++chosen[std::size_t(std::ranges::min_element(scores) - scores.begin())];
  }
  EXPECT_EQ(chosen[11], 0);
  EXPECT_THAT(std::vector<int>(chosen.begin() + 1, chosen.begin() + 10), Each(Ge(3)));
}

TEST(Propose, SpreadsOverTheFrontOfTwoGoals) {
  // Scores x^2 and (x - 1)^2: all x are on the front, other keys do not matter.
  const Space space = box(2, "0..1");
  std::vector<Tried> all;
  for (int i = 0; i < 30; ++i) {
    const Values values = next_trial({SearchKind::bayes, 1}, space, all).value();
    const double x = *parse_number(values[0]), y = *parse_number(values[1]);
    all.push_back({values, {{x * x + y, (x - 1) * (x - 1) + y}}});
  }
  int near[3] = {};
  for (std::size_t i = 10; i < all.size(); ++i)
    if (*parse_number(all[i].values[1]) < 0.1)
      ++near[std::min(2, int(3 * *parse_number(all[i].values[0])))];
  EXPECT_THAT(near, Each(Ge(2)));
}

TEST(NextPromotion, FinishesAnotherWhereTheOneAtTheEndDiverged) {
  EXPECT_EQ(next_promotion({{{0, std::nan("")}, false}, {{1}, true}}, 2, 3, true), 1u);
  EXPECT_EQ(next_promotion({{{0, 0.5}, false}, {{1}, true}}, 2, 3, true), std::nullopt);
}

/// Also where one goal alone tells no difference.
TEST(Scalarised, IsSmallerWhereATrialIsBeaten) {
  const std::vector<Scores> trials{{0, 1}, {1, 0.5}, {1, 0}};
  for (std::uint64_t number = 0; number < 20; ++number) {
    const std::vector<double> scores = scalarised(trials, 1, number);
    EXPECT_LT(scores[2], scores[1]) << number;
  }
}

/// Five times as far above the middle as the best is below; by the first trials, not the later
/// ones, which are near the best.
TEST(SurrogateOf, CutsScoresThatTellNoMore) {
  std::vector<Tried> tried;
  const auto add = [&](double score) {
    tried.push_back({{std::to_string((double(tried.size()) + 0.5) / 40)}, {{score}}});
  };
  for (int i = 0; i < 10; ++i) add(i);  // the middle is 5
  for (int i = 0; i < 20; ++i) add(0.5 + 0.01 * i);
  add(20), add(30), add(1e6);
  const std::vector<double> cut =
      surrogate_of({SearchKind::bayes, 1}, box(1, "0..1"), tried)->data().scores;
  EXPECT_LT(cut[9], cut[30]);
  EXPECT_LT(cut[30], cut[31]);
  EXPECT_EQ(cut[31], cut[32]);
}

}  // namespace next_trial_test
}  // namespace bochner
