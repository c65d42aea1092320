/// Language models and classifiers of events as tokens at their times.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/events/event_files.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

#include "faults/crashing_storage.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"

namespace bochner {
namespace timed_tokens_test {

using testing::HasSubstr;

/// Patients whose types alternate at the same rate. Of the ill ones type 1 comes soon after type 0,
/// of the others both are evenly spread: only time distinguishes them, not order.
std::string visits() {
  std::string text = "patient,time,type,ill\n";
  const RandomFunction random{1, Purpose::test, 5};
  for (int p = 0; p < 120; ++p) {
    double time = 1.7e9 + 1e5 * p;
    for (int i = 0; i < 16; ++i) {
      const double gap = p % 2 == 0 ? 40 : i % 2 == 0 ? 70 : 10;
      time += gap * (0.5 + random.uniform(std::uint64_t(16 * p + i)));
      text += fmt::format("{},{},{},{}\n", p, time, i % 2, p % 2);
    }
  }
  return text;
}

class TimedTokens : public testing::Test {
 protected:
  Config config(std::vector<std::string> sets) const {
    const std::vector<std::string> shared = {
        "data.kind=event_files", "data.sequence_column=patient",
        "data.length=32",        "data.validation=0.25",
        "model.positions=none",  "model.time.kind=free",
        "model.time.use=rotate", "model.time.longest=100",
        "model.width=16",        "model.mixer.heads=2",
        "optim.lr=3e-3"};
    sets.insert(sets.begin(), shared.begin(), shared.end());
    return tiny_config(file_, sets);
  }
  Config classifier(std::vector<std::string> sets = {}) const {
    sets.insert(sets.begin(), {"model.kind=classifier", "data.label_column=ill"});
    return config(sets);
  }
  NamedArray table(const std::string& text) const {
    CsvOptions options;
    options.columns = {"time", "type", "patient"};
    return parse_csv(text, "visits", options);
  }
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.write("visits.csv", visits());
};

TEST_F(TimedTokens, ClassifiersTellWhatOnlyTimeTells) {
  const auto accuracy = [&](const std::vector<std::string>& sets) {
    const Config learning = classifier(sets);
    const auto task = make_task(learning);
    train(learning, *task, 150);
    return evaluate_task(*task, Split::validation, 10)->mean("accuracy");
  };
  EXPECT_GT(accuracy({}), 0.95);
  EXPECT_LT(accuracy({"model.time.kind=none", "model.time.use=concatenate",
                      "model.time.longest=1000", "model.positions=learned"}),
            0.7);
}

TEST_F(TimedTokens, ClassifiersPredictARowForEachSequence) {
  for (const char* pooling : {"mean", "cls"}) {
    const auto task = make_task(classifier({std::string("model.pooling=") + pooling}));
    EXPECT_THAT(describe_model(task), HasSubstr("positions none, time free (rotate)"));
    const NamedArray two = predict(task, table("patient,time,type\n9,10,0\n4,5,1\n9,40,1\n"));
    EXPECT_THAT(two.columns, testing::ElementsAre("class_0", "class_1"));
    ASSERT_EQ(two.values.shape()[0], 2u);
    for (std::size_t row = 0; row < 2; ++row)
      EXPECT_NEAR(two.values(row, 0) + two.values(row, 1), 1, 1e-5);
    const NamedArray later = predict(task, table("patient,time,type\n9,10,0\n4,5,1\n9,70,1\n"));
    EXPECT_NE(later.values(0, 0), two.values(0, 0));
    EXPECT_EQ(later.values(1, 0), two.values(1, 0));
  }
}

/// Positions and angles of cosformer cover the longest sequence of the data, 16 events.
TEST_F(TimedTokens, ClassifiersSeeTheLastEventsOfLongerSequences) {
  const auto rows = [](int first) {
    std::string text = "patient,time,type\n";
    for (int i = first; i < 17; ++i) text += fmt::format("1,{},{}\n", 10 * i, i % 2);
    return text;
  };
  for (const char* pooling : {"mean", "cls"}) {
    const std::string pool = std::string("model.pooling=") + pooling;
    for (const std::string other :
         {"model.positions=learned", "model.mixer={kind=\"linear\",features=\"cosformer\"}"}) {
      const auto task = make_task(classifier({pool, other}));
      EXPECT_EQ(predict(task, table(rows(0))).values, predict(task, table(rows(1))).values);
      EXPECT_NE(predict(task, table(rows(1))).values, predict(task, table(rows(2))).values);
    }
  }
}

/// Column numbers of the input count the label column too.
TEST_F(TimedTokens, ColumnsOfTheInputHaveTheNumbersOfTheData) {
  std::string plain = visits();
  plain.erase(0, plain.find('\n') + 1);
  folder_.write("visits.csv", plain);
  const auto task = make_task(classifier({"data.label_column=4", "data.sequence_column=1",
                                          "data.time_column=2", "data.type_column=3"}));
  const auto predicted = [&](const char* rows) { return predict(task, parse_csv(rows, "rows")); };
  EXPECT_EQ(predicted("9,10,0\n9,40,1\n").values, predicted("9,10,0,7\n9,40,1,7\n").values);
  EXPECT_EQ(message_of<DataError>([&] { predicted("10,0\n40,1\n"); }),
            "no column \"3\"; there are: columns 1 to 2");
}

/// Returns the visits with the labels second, and an unused column.
std::string labels_second(bool named) {
  std::string text = named ? "patient,ill,time,type,room\n" : "";
  const NamedArray all = parse_csv(visits(), "visits");
  for (std::size_t row = 0; row < all.values.shape()[0]; ++row)
    text += fmt::format("{},{},{},{},1\n", all.values(row, 0), all.values(row, 3),
                        all.values(row, 1), all.values(row, 2));
  return text;
}

/// Without the label column, the numbers of the columns after it would shift.
TEST_F(TimedTokens, NoColumnOfTheInputMovesUp) {
  const std::vector<std::string> numbers{"data.label_column=2", "data.sequence_column=1",
                                         "data.time_column=3", "data.type_column=4"};
  const auto predicted = [](const std::unique_ptr<Task>& task, const char* rows) {
    return predict(task, parse_csv(rows, "rows")).values;
  };
  folder_.write("visits.csv", labels_second(true));
  const auto named = make_task(classifier(numbers));
  const auto wanted = predicted(named, "patient,ill,time,type,room\n9,7,10,0,1\n9,7,40,1,1\n");
  EXPECT_EQ(predicted(named, "patient,time,type,room\n9,10,0,1\n9,40,1,1\n"), wanted);
  EXPECT_EQ(predicted(named, "9,7,10,0,1\n9,7,40,1,1\n"), wanted);
  folder_.write("visits.csv", labels_second(false));
  const auto counted = make_task(classifier(numbers));
  EXPECT_EQ(predicted(counted, "9,7,10,0,1\n9,7,40,1,1\n"), wanted);
  EXPECT_EQ(message_of<DataError>([&] { predicted(counted, "9,10,0,1\n9,40,1,1\n"); }),
            "the input has 4 columns, the training data 5, where column 3 follows the "
            "labels; keep the label column with any values, or name the columns of both");
}

TEST_F(TimedTokens, LanguageModelsSayTheNextType) {
  const Config learning = config({"model.kind=lm"});
  const auto task = make_task(learning);
  EXPECT_THAT(task->data().words(), HasSubstr("120 sequences, 1920 events of 2 types"));
  train(learning, *task, 100);
  EXPECT_GT(evaluate_task(*task, Split::validation, 10)->mean("accuracy"), 0.95);
  const NamedArray next = predict(task, table("patient,time,type\n9,10,0\n4,5,1\n9,40,1\n"));
  EXPECT_THAT(next.columns, testing::ElementsAre("patient", "time", "type_0", "type_1"));
  EXPECT_GT(next.values(0, 3), 0.5);
  EXPECT_GT(next.values(2, 2), 0.5);
}

TEST_F(TimedTokens, LanguageModelsRefuseANumberThatIsNoTable) {
  const auto task = make_task(config({"model.kind=lm"}));
  EXPECT_THAT(message_of<DataError>([&] {
                predict(task, {xt::xarray<double>(1.5), {}});
              }),
              HasSubstr("events need a table"));
}

TEST_F(TimedTokens, LanguageModelsAnswerWithoutTheirData) {
  const Config config = this->config({"model.kind=lm"});
  const auto task = make_task(config);
  const auto learner = without_data(config, task);
  const NamedArray question = table("patient,time,type\n9,10,0\n4,5,1\n9,40,1\n");
  const NamedArray next = learner->abilities().tables->predict(question);
  EXPECT_EQ(next.values, predict(task, question).values);
  EXPECT_EQ(next.columns, predict(task, question).columns);
  EXPECT_EQ(learner->describe(), describe_model(task));
  Tape tape({.recording = false});
  ASSERT_EQ(learner->abilities().specimens->specimens(), 16u);
  EXPECT_NO_THROW(learner->abilities().specimens->forward_specimen(tape, 15));
  expect_refuses_damaged_facts(config, learner->facts());
}

TEST_F(TimedTokens, ResumeBitForBit) {
  for (const Config& learning :
       {classifier({"train.validate.every=20", "model.time.start=periodogram"}),
        config({"model.kind=lm", "model.mixer.kind=softmax", "model.time.use=concatenate",
                "model.mixer.time_kernel.kind=decay", "train.validate.every=20"})}) {
    faults::CrashingStorage whole, parts;
    start_leg(whole, learning, 1);
    start_leg(parts, learning, 2, Ending::signal, 23);
    resume_leg(parts, 1);
    EXPECT_EQ(difference(remains_of(parts), remains_of(whole)), "");
  }
}

}  // namespace timed_tokens_test
}  // namespace bochner
