#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/array.hpp>
#include <bochner/train/event_task.hpp>
#include <bochner/train/report/run_report.hpp>
#include <cmath>

#include "training_run.hpp"
#include "well_formed.hpp"

namespace bochner {
namespace {

using testing::HasSubstr;

Config events_config(std::vector<std::string> sets) {
  for (const char* set : {"model.kind=events", "data.kind=hawkes", "data.length=12",
                          "data.validation_examples=7", "model.positions=none"})
    sets.insert(sets.begin(), set);
  return tiny_config("unused", sets);
}

TEST(EventTask, DescribesItself) {
  const auto task = make_task(events_config({"model.time=flow", "data.types=4"}));
  EXPECT_THAT(task->describe_model(), HasSubstr("positions none, time flow (concatenate)"));
  EXPECT_EQ(task->describe_data(),
            "hawkes, delayed, 12 events of 4 types  ·  10000 examples to train, 7 to validate");
}

TEST(EventTask, RotatesByPhasesOfPairs) {
  const auto error = [](const std::string& time, const std::string& heads) {
    try {
      events_config({"model.time=" + time, "model.mixer.heads=" + heads});
    } catch (const ConfigError& problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  EXPECT_EQ(error("{kind=\"flow\",use=\"rotate\"}", "2"), "");
  EXPECT_EQ(error("{kind=\"mercer\",use=\"rotate\"}", "2"),
            "--set: model.time.use = \"rotate\": cannot be done with model.time.kind = \"mercer\"");
  EXPECT_EQ(
      error("{kind=\"flow\",use=\"rotate\"}", "8"),
      "--set: model.time.use = \"rotate\": needs an even model.width / model.mixer.heads, not 1");
}

TEST(EventTask, MeasuresItselfBesideTheTruth) {
  const auto task = make_task(events_config({"model.time=free", "data.branching=0.5"}));
  const Evaluation result = *validate_task(*task, 3, 0, [] { return false; });
  EXPECT_EQ(result.terms, 7u * 12);
  EXPECT_NEAR(result.mean("time_nats") + result.mean("type_nats"), result.loss(), 1e-9);
  EXPECT_GT(result.loss(), result.mean("true_nats"));
  EXPECT_LE(result.mean("accuracy"), 1);
  EXPECT_GT(result.mean("intensity_error"), 0.05);
  Tape tape;
  EXPECT_NEAR(double(task->loss(tape, 0, 4).value().data()[0]), result.loss(), 0.6);
}

/// A model whose intensity is the truth has no error, one of twice the truth an error of 1.
TEST(IntensityError, IsRelativeToTheTruth) {
  EventModelSpec spec;
  spec.types = 2;
  spec.stack.blocks = 1;
  spec.stack.block.width = 8;
  spec.stack.block.mixer.kind = "softmax";
  spec.intensity.delays = 0;
  EventModel model(spec);
  const HawkesEvents events({"exponential", 2, 10, 0, 1}, {1, 10, 5});  // intensities 0.5
  const EventBatch batch = events.batch(0, 3);
  const Times truth = event_truth(events.process(), batch, 2).intensity;
  const double span = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < batch.times.size(); ++i)
      sum += batch.next_times.data()[i] - batch.times.data()[i];
    return sum;
  }();
  for (const double factor : {1.0, 2.0}) {
    const Var weights(filled({3, 10, 2, 1}, real(0.5 * factor)));
    const IntensityError error = intensity_error(model, weights, batch, truth);
    EXPECT_NEAR(error.difference, (factor - 1) * error.truth, 1e-4);
    EXPECT_NEAR(error.truth, 2 * span, 1e-3);  // two points in every gap
  }
}

TEST(EventTask, PredictsWhatComesAfterEveryEvent) {
  const auto task = make_task(events_config({"model.time=free"}));
  const NamedArray events{xt::xarray<double>{{0, 1}, {2, 0}, {2.5, 2}}, {"time", "type"}};
  const NamedArray next = task->predict(events);
  EXPECT_EQ(next.columns, (std::vector<std::string>{"next_time_median", "next_time_mean", "type_0",
                                                    "type_1", "type_2"}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GT(next.values(i, 0), events.values(i, 0));
    EXPECT_NEAR(next.values(i, 2) + next.values(i, 3) + next.values(i, 4), 1, 1e-5);
  }
}

TEST(EventTask, ShowsItsIntensities) {
  Page page("run", "model");
  make_task(events_config({"model.time=free"}))->illustrate(page);
  EXPECT_THAT(page.html(), HasSubstr("Intensities"));
  EXPECT_EQ(xml_problem(page.html()), "");
}

TEST(EventTask, ShowsItsKernelsOfTime) {
  const Config config = events_config({"model.time={kind=\"flow\",use=\"attend\"}"});
  const auto start = make_task(config), now = make_task(config);
  for (const NamedParameter& named : parameters_of(now->model()))
    if (named.name.ends_with("time.density.log_scale")) named.parameter->value().fill(1);
  Page page("run", "model");
  add_time_kernels(page, start->model(), now->model());
  EXPECT_THAT(page.html(), HasSubstr("blocks.0.mixer.time"));
  // The density of times is not that of the queries and keys.
  EXPECT_EQ(attention_layers(now->model())[0].density, nullptr);
  EXPECT_EQ(xml_problem(page.html()), "");
}

}  // namespace
}  // namespace bochner
