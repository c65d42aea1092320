#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/ops.hpp>

#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace trainer_test {

using testing::HasSubstr;

std::vector<Tensor> copy_of_tensors(Trainer& trainer) {
  std::vector<Tensor> tensors;
  for (const NamedTensor& named : trainer.tensors()) tensors.push_back(*named.tensor);
  return tensors;
}

TEST(Trainer, AStepThatIsNotFiniteChangesNothingAndNamesTheOp) {
  TemporaryFolder folder;
  const Config config =
      tiny_config(folder.write("text", tiny_text()),
                  {"optim.lr=1e30", "optim.clip=0", "optim.ema=0.9", "train.accumulate=2"});
  const auto task = make_task(config);
  Trainer trainer(config, *task, run_steps);
  trainer.step();
  const std::vector<Tensor> before = copy_of_tensors(trainer);
  EXPECT_THAT(message_of<DivergedError>([&] { trainer.step(); }),
              testing::AllOf(HasSubstr("step 2: the loss"), HasSubstr("of op ")));
  EXPECT_EQ(copy_of_tensors(trainer), before);
  EXPECT_EQ(trainer.state().step, 1u);
  EXPECT_EQ(trainer.state().examples, 2u * 2u);
  EXPECT_EQ(trainer.state().optimizer_steps, 1u);
  EXPECT_EQ(trainer.state().ema_steps, 1u);
}

TEST(Trainer, RefusesAnUpdateThatIsNotFinite) {
  TemporaryFolder folder;
  const Config config =
      tiny_config(folder.write("text", tiny_text()), {"optim.lr=1e39", "optim.clip=0"});
  const auto task = make_task(config);
  Trainer trainer(config, *task, run_steps);
  EXPECT_THAT(message_of<DivergedError>([&] { trainer.step(); }),
              HasSubstr("step 1: the update with learning rate 1e+39 makes embedding.weight"));
}

/// A task whose loss has a weight that its model does not name, though a visit of its part does.
class ForgetfulTask : public Task {
 public:
  explicit ForgetfulTask(const Config& config) : all_(make_task(config)) { initialize(part_, 7); }
  Learner& learner() override { return all_->learner(); }
  const Dataset& data() const override { return all_->data(); }
  Var loss(Tape& tape, const Examples& examples) override {
    return all_->loss(tape, examples) * tape(part_.weight);
  }
  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    return all_->evaluate(tape, examples);
  }

 private:
  struct Part : Module {
    Parameter weight{filled({1}, 1)};
    void visit(Visitor& visitor) override { visitor("weight", weight); }
  };
  std::unique_ptr<Task> all_;
  Part part_;
};

TEST(Trainer, RefusesAParameterThatNoVisitNames) {
  TemporaryFolder folder;
  const Config config = tiny_config(folder.write("text", tiny_text()));
  ForgetfulTask task(config);
  Trainer trainer(config, task, run_steps);
  EXPECT_THAT(message_of<std::invalid_argument>([&] { trainer.step(); }),
              HasSubstr("a parameter (1) is not named by any visit()"));
}

/// The loss is half a weight, and a layer adds the other half.
class SideTask : public Task {
 public:
  explicit SideTask(Task& like) : like_(like) {}
  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return like_.data(); }
  Var loss(Tape& tape, const Examples&) override {
    steps.push_back(tape.step);
    const Var half = tape(model_.weight) * 0.5;
    tape.add_loss(half);
    return half;
  }
  Evaluation evaluate(Tape&, const Examples&) override { return {}; }
  std::vector<std::uint64_t> steps;

 private:
  struct Model : Module {
    Parameter weight{Tensor(Shape{}, real(0))};
    void visit(Visitor& visitor) override { visitor("weight", weight); }
  };
  Task& like_;
  Model model_;
  TestLearner learner_{model_};
};

/// Passes of a step draw different numbers, in no other step, and are one gradient together.
TEST(Trainer, PassesOfAStepAreItsParts) {
  TemporaryFolder folder;
  for (const char* accumulate : {"1", "3"}) {
    const Config config =
        tiny_config(folder.write("text", tiny_text()),
                    {"optim.kind=sgd", "optim.momentum=0", "optim.lr=1", "optim.clip=0",
                     "optim.weight_decay=0", std::string("train.accumulate=") + accumulate});
    const auto like = make_task(config);
    SideTask task(*like);
    Trainer trainer(config, task, run_steps);
    trainer.step(), trainer.step();
    for (std::size_t i = 0; i < task.steps.size(); ++i) EXPECT_EQ(task.steps[i], i) << accumulate;
    EXPECT_NEAR(trainer.tensors()[0].tensor->data()[0], -2, 1e-6) << accumulate;
  }
}

/// The Hessian of its loss is diagonal; it reports the first example of each part.
class QuadraticTask : public Task {
 public:
  explicit QuadraticTask(Task& like) : like_(like) {}
  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return like_.data(); }
  Var loss(Tape& tape, const Examples& examples) override {
    report(tape, "first", double(examples.index(0)));
    const Tensor diagonal{real(2), real(-7), real(3), real(5)};
    return sum(square(tape(model_.weight)) * diagonal) * 0.5;
  }
  Evaluation evaluate(Tape&, const Examples&) override { return {}; }

 private:
  struct Model : Module {
    Parameter weight{filled({4}, 1)};
    void visit(Visitor& visitor) override { visitor("weight", weight); }
  };
  Task& like_;
  Model model_;
  TestLearner learner_{model_};
};

TEST(Trainer, MeasuresCurvatureAndCollectsReports) {
  TemporaryFolder folder;
  std::vector<double> means;
  for (const char* parts : {"train.shards=2", "train.accumulate=2"}) {
    const bool shards = parts[6] == 's';
    const Config config = tiny_config(folder.write("text", tiny_text()),
                                      {parts, shards ? "train.batch=8" : "train.batch=4"});
    const auto like = make_task(config);
    QuadraticTask task(*like);
    Trainer trainer(config, task, run_steps);
    trainer.step();
    const auto reports = trainer.reports();
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].first, "first");
    means.push_back(reports[0].second);
    EXPECT_NEAR(trainer.curvature(4), 5, 1e-4) << parts;
    EXPECT_EQ(trainer.reports(), reports) << "only steps report";
  }
  EXPECT_EQ(means[0], means[1]);
}

/// Sequences of 2 to 60 events: the loss is that of the whole batch, however it is divided.
TEST(Trainer, PartsOfAStepCountByTheirPredictions) {
  TemporaryFolder folder;
  std::string table = "who,time,type\n";
  for (int who = 0; who < 24; ++who)
    for (int i = 0; i < (who % 4 == 3 ? 60 : 2 + who % 4); ++i)
      table += std::to_string(who) + ',' + std::to_string(i * i % 7 + 7 * i) + ",a" +
               std::to_string(i * who % 3) + '\n';
  const auto path = folder.write("events.csv", table);
  std::vector<StepResult> results;
  for (const auto& [batch, parts] :
       {std::pair{"8", ""}, {"2", "train.accumulate=4"}, {"8", "train.shards=4"}}) {
    std::vector<std::string> sets{"model.kind=events", "data.kind=event_files",
                                  "data.sequence_column=who", "data.length=64",
                                  std::string("train.batch=") + batch};
    if (*parts) sets.push_back(parts);
    const Config config = tiny_config(path, sets);
    const auto task = make_task(config);
    results.push_back(Trainer(config, *task, run_steps).step());
  }
  for (const StepResult& result : results) {
    EXPECT_NEAR(result.loss, results[0].loss, 1e-5);
    EXPECT_NEAR(result.gradient_norm, results[0].gradient_norm, 1e-4);
  }
}

}  // namespace trainer_test
}  // namespace bochner
