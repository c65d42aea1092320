#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/base/xtensor.hpp>
#include <bochner/train/run/checkpoint/model_weights.hpp>
#include <bochner/train/studies/learned_pages.hpp>
#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/events/event_report.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

#include "data/batches.hpp"
#include "faults/crashing_storage.hpp"
#include "train/ask.hpp"
#include "train/tasks/events/clicks_fixture.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace event_task_test {

using clicks_fixture::clicks;
using testing::HasSubstr;
using testing::Not;

Config events_config(std::vector<std::string> sets) {
  for (const char* set : {"model.kind=events", "data.kind=hawkes", "data.length=12",
                          "data.validation_examples=7", "model.positions=none"})
    sets.insert(sets.begin(), set);
  return tiny_config("unused", sets);
}

TEST(EventTask, DescribesItself) {
  const auto task = make_task(events_config({"model.time=flow", "data.types=4"}));
  EXPECT_THAT(describe_model(task), HasSubstr("positions none, time flow (concatenate)"));
  EXPECT_EQ(task->data().words(),
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

TEST(EventTask, StartsItsFrequenciesAtThePeriodogram) {
  const auto parameters = [](const std::string& time, const std::string& start) {
    const auto task = make_task(events_config({"model.time=" + time, "model.time.start=" + start}));
    std::vector<Tensor> values;
    for (const NamedParameter& named : parameters_of(task->model()))
      values.push_back(named.parameter->value());
    return values;
  };
  for (const char* time : {"free", "{kind=\"gaussian\",use=\"rotate\"}", "{kind=\"mercer\"}"})
    EXPECT_NE(parameters(time, "periodogram"), parameters(time, "none")) << time;
  for (const char* time : {"none", "sinusoidal"})
    EXPECT_EQ(message_of<ConfigError>([&] { parameters(time, "periodogram"); }),
              "--set: model.time.start has no effect with model.time.kind = \"" +
                  std::string(time) + "\"; remove it");
}

TEST(EventTask, MeasuresItselfBesideTheTruth) {
  const auto task = make_task(events_config({"model.time=free", "data.branching=0.5"}));
  const Evaluation result = *evaluate_task(*task, Split::validation, 3);
  EXPECT_EQ(result.terms, 7u * 12);
  EXPECT_NEAR(result.mean("time_nats") + result.mean("type_nats"), result.loss(), 1e-9);
  EXPECT_GT(result.loss(), result.mean("true_nats"));
  EXPECT_LE(result.mean("accuracy"), 1);
  EXPECT_GT(result.mean("intensity_error"), 0.05);
  Tape tape;
  EXPECT_NEAR(double(task->loss(tape, task->data().training(0, 4)).value().data()[0]),
              result.loss(), 0.6);
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
  const EventBatch batch = training_batch(events, 0, 3);
  const Times truth = event_truth(*events.truth(), batch, 2).intensity;
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
  const NamedArray next = predict(task, events);
  EXPECT_EQ(next.columns, (std::vector<std::string>{"time", "next_time_median", "next_time_mean",
                                                    "type_0", "type_1", "type_2"}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(next.values(i, 0), events.values(i, 0));
    EXPECT_GT(next.values(i, 1), events.values(i, 0));
    EXPECT_NEAR(next.values(i, 3) + next.values(i, 4) + next.values(i, 5), 1, 1e-5);
  }
}

/// Times that were read as dates are written as dates.
TEST(EventTask, SaysDatesOfDates) {
  const auto task = make_task(events_config({"model.time=free"}));
  const NamedArray dated{
      xt::xarray<double>{{1.7e9, 1}, {1.7e9 + 2, 0}}, {"time", "type"}, std::size_t(0)};
  std::string text;
  write_csv(predict(task, dated), [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(text.substr(text.find('\n') + 1, 14), "2023-11-14 22:");
}

/// Tables are cut as in training: an event sees only earlier events of its window.
TEST(EventTask, PredictsTablesThatAreLongerThanItsWindows) {
  const auto task = make_task(events_config({"model.time=free", "model.positions=learned"}));
  NamedArray events{xt::zeros<double>({30, 2}), {"time", "type"}};
  for (std::size_t i = 0; i < 30; ++i) {
    events.values(i, 0) = double(i) + 0.1 * double(i % 4);
    events.values(i, 1) = double(i % 3);
  }
  const NamedArray all = predict(task, events);
  ASSERT_EQ(all.values.shape()[0], 30u);
  const NamedArray second{xt::view(events.values, xt::range(12, 24), xt::all()), events.columns};
  const NamedArray alone = predict(task, second);
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t k = 0; k < 6; ++k)
      EXPECT_NEAR(all.values(12 + i, k), alone.values(i, k), 1e-5) << i << " " << k;
}

class EventFilesTask : public clicks_fixture::ClicksTask {};

TEST_F(EventFilesTask, LearnsResumesAndPredicts) {
  const Config learning = config({"train.validate.every=20", "train.steps=200", "optim.lr=0.01"});
  const auto task = make_task(learning);
  EXPECT_EQ(task->data().words(),
            "2 sequences, 60 events of 2 types  ·  4 examples to train, 4 to validate");
  const Evaluation before = *evaluate_task(*task, Split::validation, 3);
  EXPECT_EQ(before.terms, 29u);
  EXPECT_EQ(before.measures.size(), 4u);  // none of a truth
  const Evaluation padded = *evaluate_task(*task, Split::validation, 4);
  EXPECT_NEAR(padded.loss(), before.loss(), 1e-5);  // padding is not evaluated
  faults::CrashingStorage whole, parts;
  start_leg(whole, learning, 1);
  start_leg(parts, learning, 2, Ending::signal, 23);
  resume_leg(parts, 1);
  EXPECT_EQ(difference(remains_of(parts), remains_of(whole)), "");

  RunDirectory run = RunDirectory::read(whole, tiny_run);
  load_model(run.load_best(), task->model(), false);
  const Evaluation after = *evaluate_task(*task, Split::validation, 3);
  EXPECT_LT(after.loss(), before.loss() - 0.1);
  EXPECT_GT(after.mean("accuracy"), 0.9);
  const NamedArray next = predict(task, read_array(file_, table_options(learning)));
  for (const std::size_t row : {40, 41}) {  // both users end a run of types there
    EXPECT_EQ(next.texts.at(0).at(std::size_t(next.values(row, 0))), row % 2 ? "8" : "7");
    EXPECT_EQ(next.values(row, 1), 1700000000 + 30.0 * double(row));
    EXPECT_NEAR(next.values(row, 2), next.values(row, 1) + 60, 40);
    EXPECT_GT(next.values(row, 4 + (row / 2 + 1) % 2), 0.5);
  }
}

/// Only the place of an event determines the type of the next one.
TEST_F(EventFilesTask, LearnsFromPlaces) {
  std::string text = "at,x,kind\n";
  const RandomFunction random{7, Purpose::test, 5};
  const auto kind = [&random](std::size_t i) { return random.integer(i, 2); };
  for (std::size_t i = 0; i < 800; ++i)
    text += fmt::format("{},{},{}\n", 10 * i + i % 3, 4 + double(kind(i + 1)), kind(i));
  const std::string file = folder_.write("placed.csv", text).string();
  double losses[2];
  for (const bool placed : {false, true}) {
    std::vector<std::string> sets = {"data.files=['" + file + "']",
                                     "data.sequence_column=",
                                     "data.length=16",
                                     "train.batch=8",
                                     "optim.lr=0.01",
                                     "train.steps=150",
                                     "model.width=16"};
    if (placed) sets.push_back("data.place_columns=['x']");
    const Config learning = config(sets);
    const auto task = make_task(learning);
    train(learning, *task, 150);
    losses[placed] = evaluate_task(*task, Split::validation, 4)->mean("type_nats");
    const NamedArray next = predict(task, read_array(file, table_options(learning)));
    EXPECT_EQ(next.values.shape()[0], 800u);
    EXPECT_EQ(describe_model(task).find("place fused") != std::string::npos, placed);
    Page page("run", "model");
    illustrate(task, page);
    EXPECT_EQ(page.html().find("encoding by place") != std::string::npos, placed);
  }
  EXPECT_GT(losses[0], 0.6);  // ln 2 at best
  EXPECT_LT(losses[1], 0.2);
}

/// The types of a table are texts, numbered as in the training data, not as in the question.
TEST_F(EventFilesTask, AnswersWithoutItsData) {
  std::string text = "at,x,kind\n";
  for (std::size_t i = 0; i < 60; ++i)
    text += fmt::format("{},{},{}\n", 10 * i + i % 3, i % 7, i % 3 == 0 ? "rain" : "snow");
  const std::string file = folder_.write("placed.csv", text).string();
  const Config config = this->config(
      {"data.files=['" + file + "']", "data.sequence_column=", "data.place_columns=['x']"});
  const auto task = make_task(config);
  std::filesystem::remove(file);
  const auto learner = without_data(config, task);
  const NamedArray question =
      parse_csv("at,x,kind\n5,1,snow\n9,2,rain\n", "question", tables(task).read_options().csv);
  const NamedArray next = learner->abilities().tables->predict(question);
  EXPECT_THAT(next.columns, testing::ElementsAre("at", "next_time_median", "next_time_mean",
                                                 "type_rain", "type_snow"));
  EXPECT_EQ(next.values, predict(task, question).values);
  EXPECT_EQ(learner->describe(), describe_model(task));
  for (std::size_t i = 0; i < learner->abilities().specimens->specimens(); ++i) {
    Tape tape({.recording = false});
    EXPECT_NO_THROW(learner->abilities().specimens->forward_specimen(tape, i));
  }
}

TEST_F(EventFilesTask, RefusesOtherTypesThanTheKnown) {
  const Config config = this->config();
  const KnownFacts known{.bytes = make_task(config)->learner().facts()};
  EXPECT_EQ(make_task(config, known)->learner().facts(), known.bytes);
  folder_.write("clicks.csv", clicks(60, "1700009000,p,7,2\n"));
  EXPECT_THAT(message_of<DataError>([&] { make_task(config, known); }),
              HasSubstr("an event has type 2; the model was trained on 2 types"));
  EXPECT_THAT(decode_facts<EventFacts>(make_task(config, {known.bytes, true})->learner().facts()),
              testing::Field(&EventFacts::types, 3));
}

TEST(EventFacts, RefuseWhatContradictsItself) {
  const Config config = events_config({"model.time=free"});
  const std::string facts = make_task(config)->learner().facts();
  expect_refuses_damaged_facts(config, facts);
  const auto refuses = [&](const auto& change) {
    auto changed = decode_facts<EventFacts>(facts);
    change(changed);
    EXPECT_THROW(make_learner(config, {.bytes = encode_facts(changed)}), DataError);
  };
  refuses([](EventFacts& changed) { changed.types = 0; });
  refuses([](EventFacts& changed) { changed.types = 2; });  // specimens have three
  refuses([](EventFacts& changed) { changed.types = std::uint64_t(1) << 40; });
  refuses([](EventFacts& changed) { changed.length = 3; });
  refuses([](EventFacts& changed) { changed.dimensions = 2; });
  refuses([](EventFacts& changed) { changed.table.types = {"a", "b", "c", "d"}; });
  refuses([](EventFacts& changed) { changed.specimens[0].next_types.values[0] = -2; });
}

TEST_F(EventFilesTask, SaysWhatDoesNotFitPlaces) {
  const auto error = [&](const std::vector<std::string>& sets) {
    return message_of<ConfigError>([&] { config(sets); });
  };
  EXPECT_THAT(error({"model.encoding.space=4"}),
              HasSubstr("model.encoding.space has no effect with data.place_columns = [] and "
                        "model.kind = \"events\"; remove it"));
  EXPECT_THAT(error({"data.place_columns=['x']", "model.encoding.kind=none"}),
              HasSubstr("data.place_columns = [\"x\"]: needs model.encoding.kind other than"));
  EXPECT_THAT(error({"data.place_columns=['x']", "model.positions=encoding"}),
              HasSubstr("model.positions = \"encoding\": needs tokens of a text or of an image"));
}

TEST_F(EventFilesTask, ShowsIntensitiesWithoutATruth) {
  Page page("run", "model");
  illustrate(make_task(config()), page);
  EXPECT_THAT(page.html(), HasSubstr("Intensities"));
  EXPECT_THAT(page.html(), Not(HasSubstr("truth")));
  EXPECT_EQ(xml_problem(page.html()), "");
}

TEST_F(EventFilesTask, NamesFileAndRowOfWhatIsWrong) {
  const auto problem = [&](const std::string& row) {
    folder_.write("clicks.csv", clicks(4, row));
    return message_of<DataError>([&] { make_task(config()); });
  };
  const std::string name = file_.string();
  EXPECT_EQ(problem("1700000001,p,7,0\n"),
            name + ": row 5: its time is before that of row 3; sort the rows by time");
  EXPECT_EQ(problem("1700000900,p,7,0.5\n"),
            name + ": row 5: its type must be a whole number from 0 to 65535");
}

TEST_F(EventFilesTask, HasAFingerprintOfTheFile) {
  const std::uint64_t one = make_task(config())->data().fingerprint();
  EXPECT_EQ(make_task(config())->data().fingerprint(), one);
  folder_.write("clicks.csv", clicks(60, "1700009000,p,7,1\n"));
  EXPECT_NE(make_task(config())->data().fingerprint(), one);
}

TEST(EventTask, ShowsItsIntensities) {
  Page page("run", "model");
  illustrate(make_task(events_config({"model.time=free"})), page);
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
  // The density of times differs from that of queries and keys.
  EXPECT_EQ(attention_layers(now->model())[0].density, nullptr);
  EXPECT_EQ(xml_problem(page.html()), "");
}

}  // namespace event_task_test
}  // namespace bochner
