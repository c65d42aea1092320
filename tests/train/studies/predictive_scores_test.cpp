#include <gtest/gtest.h>

#include <bochner/train/storage/json.hpp>
#include <bochner/train/studies/eval_scores.hpp>
#include <cmath>

#include "train/ask.hpp"

namespace bochner {
namespace predictive_scores_test {

/// Eight examples of each split.
struct Numbered : Dataset {
  explicit Numbered(std::uint64_t validation = 8)
      : Dataset(ExampleSet{.train = 8, .validation = validation, .test = 8}) {}
  std::uint64_t tokens_per_example() const override { return 1; }
  std::uint64_t fingerprint() const override { return 1; }
  std::string describe() const override { return "numbers"; }
  Examples rest(Split split) const override { return {split, left_over}; }
  std::vector<Examples::Number> left_over;
};

struct Belief : Module {
  Parameter x{Tensor({1}, real(0.4))};
  ParameterPosterior posterior{{{"x", &x}}, ParameterPosterior::Form::mean_field, 20.0};
  void visit(Visitor& visitor) override { visitor("x", x), visitor("posterior", posterior); }
};

/// What it predicts follows from its one parameter; the targets are given.
struct Oracle : Task {
  Numbered numbers;
  Belief belief;
  TestLearner belief_learner{belief, "oracle"};
  std::vector<double> targets, of_training;
  bool answers = true;

  Learner& learner() override { return belief_learner; }
  const Dataset& data() const override { return numbers; }
  Var loss(Tape&, const Examples&) override { return {}; }
  Evaluation evaluate(Tape&, const Examples&) override { return {}; }
  NamedArrays arrays(const Examples& examples) override {
    const std::size_t n = examples.size();
    const double x = double(belief.x.value()(0));
    xt::xarray<double> outputs = xt::zeros<double>(answers ? std::vector<std::size_t>{n, 2}
                                                           : std::vector<std::size_t>{n, 1});
    xt::xarray<double> wanted =
        xt::zeros<double>(answers ? std::vector<std::size_t>{n} : std::vector<std::size_t>{n, 1});
    for (std::size_t i = 0; i < n; ++i) {
      outputs.data()[answers ? 2 * i : i] = x;
      const auto& of = examples.split == Split::train ? of_training : targets;
      wanted.data()[i] = of[examples.index(i)];
    }
    return {{"targets", wanted}, {"outputs", outputs}};
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(PredictiveScores, CountHowSureAndHowRightAnswersAre) {
  Oracle task;
  task.targets = {0, 0, 0, 1, 0, 0, -1, 1};  // of seven, one is not asked for
  DrawnPosteriors posteriors(task.belief, 1);
  const double p = sigmoid(0.4);
  const PredictiveScores scores = score_predictions(task, posteriors, Split::validation, 3, 0);
  EXPECT_EQ(scores.terms, 7u);
  EXPECT_NEAR(*scores.right, 5.0 / 7, 1e-12);
  EXPECT_NEAR(*scores.nats, -(5 * std::log(p) + 2 * std::log(1 - p)) / 7, 1e-6);
  EXPECT_NEAR(*scores.calibration_error, std::abs(p - 5.0 / 7), 1e-6);
  EXPECT_EQ(scores.words().find("rmse"), std::string::npos);
}

TEST(PredictiveScores, TakeWhatIsLeftOverBehindTheLastExample) {
  Oracle task;
  task.targets.assign(9, 0);
  task.numbers.left_over.push_back({8});
  DrawnPosteriors posteriors(task.belief, 1);
  EXPECT_EQ(score_predictions(task, posteriors, Split::validation, 3, 0).terms, 9u);
}

/// Probabilities are averaged, not logits, over draws that are functions of their number.
TEST(PredictiveScores, AverageProbabilitiesOverDraws) {
  Oracle task;
  task.targets.assign(8, 1);
  DrawnPosteriors posteriors(task.belief, 7);
  double mean = 0;
  for (std::uint64_t n = 0; n < 5; ++n) {
    const RandomFunction random{7, Purpose::posterior, stream_of("posterior") + n};
    mean += sigmoid(0.4 + random.normal(0)) / 5;  // 0.05 of the prior's deviation of 20
  }
  const PredictiveScores scores = score_predictions(task, posteriors, Split::test, 8, 5);
  EXPECT_NEAR(*scores.nats, -std::log(1 - mean), 1e-5);
  EXPECT_EQ(task.belief.x.value()(0), real(0.4));
}

/// Intervals have the variance of draws and that of residuals on the training data.
TEST(PredictiveScores, CoverValuesByDrawsAndNoise) {
  Oracle task;
  task.answers = false;
  task.of_training = {1.4, -0.6, 1.4, -0.6, 1.4, -0.6, 1.4, -0.6};  // residuals of 1
  task.targets = {0.4, 0.9, 2.0, 2.1, -1.2, -1.3, 0.3, 5.4};
  DrawnPosteriors posteriors(task.belief, 1);
  const PredictiveScores scores = score_predictions(task, posteriors, Split::validation, 5, 0);
  EXPECT_NEAR(*scores.coverage, 5.0 / 8, 1e-12);
  double squares = 0;
  for (const double target : task.targets) squares += std::pow(target - 0.4, 2);
  EXPECT_NEAR(*scores.rmse, std::sqrt(squares / 8), 1e-6);
  // Draws of deviation 1 widen them by about a square root of 2.
  const PredictiveScores wider = score_predictions(task, posteriors, Split::validation, 5, 64);
  EXPECT_GT(*wider.coverage, *scores.coverage);
}

TEST(PredictiveScores, RefuseWhatHasNoSuchPredictions) {
  struct Silent : Oracle {
    NamedArrays arrays(const Examples&) override { return {{"targets", {}}}; }
  } task;
  DrawnPosteriors posteriors(task.belief, 1);
  EXPECT_THROW(score_predictions(task, posteriors, Split::test, 8, 0), std::invalid_argument);
}

TEST(PredictiveScores, RefuseValuesWithoutDataToTellTheirNoise) {
  Oracle task;
  task.answers = false;
  task.targets.assign(8, 1);
  task.numbers = Numbered(0);
  DrawnPosteriors posteriors(task.belief, 1);
  EXPECT_THROW(score_predictions(task, posteriors, Split::test, 8, 0), std::invalid_argument);
}

TEST(DrawnPosteriors, AddTheDivergenceForEachTerm) {
  Oracle task;
  DrawnPosteriors posteriors(task.belief, 1);
  EXPECT_TRUE(posteriors.are_drawn());
  { const DrawnPosteriors::Draw draw(posteriors, 3); }
  EXPECT_NEAR(posteriors.add_gradients(0.25), 0.25 * task.belief.posterior.divergence(), 1e-12);
}

/// That of a sample: of two draws, half the square of their difference.
TEST(PredictiveScores, VarianceOfFewDrawsIsNotTooSmall) {
  Oracle task;
  task.answers = false;
  double mean = 0, square = 0;
  for (std::uint64_t n = 0; n < 2; ++n) {
    const double x =
        0.4 + RandomFunction{7, Purpose::posterior, stream_of("posterior") + n}.normal(0);
    mean += x / 2, square += (n == 0 ? x : -x);
  }
  task.of_training.assign(8, mean);  // no noise
  task.targets.assign(8, mean + 1.6 * std::abs(square) / std::sqrt(2));
  DrawnPosteriors posteriors(task.belief, 7);
  EXPECT_EQ(*score_predictions(task, posteriors, Split::validation, 8, 2).coverage, 1);
}

/// Terms of all training examples, also where they are fewer than a batch.
TEST(TrainingTerms, AreThoseOfAllExamples) {
  struct Counting : Oracle {
    Evaluation evaluate(Tape&, const Examples& examples) override {
      return {0, 3 * examples.size(), "nats", {}};
    }
  } task;
  for (const std::size_t batch : {2, 8, 16}) EXPECT_EQ(training_terms(task, batch), 24) << batch;
}

}  // namespace predictive_scores_test
}  // namespace bochner
