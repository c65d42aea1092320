#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <bochner/train/studies/eval_scores.hpp>
#include <bochner/train/tasks/contrast/embedding_pictures.hpp>
#include <bochner/train/tasks/labels/label_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

#include "data/messages.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace contrast_task_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Two kinds of sequences: `a` ticks at a steady pace, `b` alternates in bursts.
std::string event_rows(std::size_t sequences) {
  std::string text = "who,time,type,kind\n";
  for (std::size_t s = 0; s < sequences; ++s)
    for (std::size_t i = 0; i < 6 + s % 3; ++i) {
      const bool burst = s % 2 == 1;
      text += fmt::format("{},{},{},{}\n", s, burst ? double(i / 2) * 5 + double(i % 2) : double(i),
                          burst ? (i % 2 == 0 ? "up" : "down") : "tick", burst ? "b" : "a");
    }
  return text;
}

std::string series_rows(std::size_t rows) {
  std::string text = "which,x,y\n";
  for (std::size_t i = 0; i < rows; ++i)
    for (int which = 0; which < 2; ++which)
      text += fmt::format("{},{:.4f},{:.4f}\n", which == 0 ? "slow" : "fast",
                          std::sin(double(i) * (which == 0 ? 0.2 : 1.1)), 5 + 0.1 * double(i % 7));
  return text;
}

Embeddings embeddings_of(const std::unique_ptr<Task>& task, Split split, std::size_t batch) {
  return task->abilities().embeds->embeddings(split, batch);
}

class ContrastTaskTest : public testing::Test {
 protected:
  ContrastTaskTest() {
    folder_.write("events.csv", event_rows(24));
    folder_.write("series.csv", series_rows(120));
  }
  static std::vector<std::string> with(std::vector<std::string> sets,
                                       const std::vector<std::string>& more) {
    sets.insert(sets.end(), more.begin(), more.end());
    return sets;
  }
  Config shapes(const std::vector<std::string>& more = {}) const {
    return tiny_config("unused", with({"model.kind=contrastive", "data.kind=shapes", "data.side=12",
                                       "data.train_examples=23", "data.validation_examples=7",
                                       "model.patch.pixels=4", "train.batch=4"},
                                      more));
  }
  Config events(const std::vector<std::string>& more = {}) const {
    return tiny_config(folder_.path() / "events.csv",
                       with({"model.kind=contrastive", "data.kind=event_files",
                             "data.sequence_column=who", "data.validation=0.25"},
                            more));
  }
  Config series(const std::vector<std::string>& more = {}) const {
    return tiny_config(folder_.path() / "series.csv",
                       with({"model.kind=contrastive", "data.kind=series", "data.series=['which']",
                             "data.lookback=12", "model.patch.length=4", "model.patch.stride=4"},
                            more));
  }
  static std::string error_of(const std::function<void()>& action) {
    return message_of<ConfigError>(action);
  }
  TemporaryFolder folder_;
};

TEST_F(ContrastTaskTest, IsMadeOfAConfig) {
  EXPECT_EQ(
      describe_model(make_task(shapes())),
      "contrastive, info_nce, 1 block, D 8, softmax, temperature 0.2, 9 tokens of 16 numbers");
  EXPECT_THAT(describe_model(make_task(
                  shapes({"model.contrast=prototypes", "model.contrast.clusters=[3,4]"}))),
              StartsWith("contrastive, prototypes(3, 4), "));
  EXPECT_THAT(describe_model(make_task(events())), HasSubstr("positions learned, time none"));
  EXPECT_THAT(describe_model(make_task(series())), HasSubstr("3 tokens of 8 numbers"));
}

/// A few steps make two views of an example more alike than they were.
TEST_F(ContrastTaskTest, LearnsFromEveryKindOfData) {
  for (const Config& config :
       {shapes({"optim.lr=0.02", "optim.schedule.warmup=0", "data.views.shift=0",
                "data.views.rotate=0", "data.views.scale=0", "data.views.shear=0",
                "data.views.erase=0"}),
        events({"optim.lr=0.02", "optim.schedule.warmup=0", "train.batch=6"}),
        series({"optim.lr=0.02", "optim.schedule.warmup=0", "train.batch=6"})}) {
    const auto task = make_task(config);
    const std::size_t B = config.count("train.batch");
    const double before = evaluate_task(*task, Split::train, B)->loss();
    train(config, *task, 60);
    const Evaluation after = *evaluate_task(*task, Split::train, B);
    EXPECT_LT(after.loss(), before) << config.text("data.kind");
    EXPECT_EQ(after.measures[0].name, "matched");
    EXPECT_LE(after.mean("matched"), 1);
  }
}

TEST_F(ContrastTaskTest, ClustersOnceInEveryEpochFromItsStartOn) {
  const Config config = shapes(
      {"model.contrast=prototypes", "model.contrast.clusters=[3,4]", "model.contrast.start=1"});
  const auto task = make_task(config);
  auto& model = dynamic_cast<ContrastModel&>(task->model());
  Trainer trainer(config, *task, 50);
  for (int step = 0; step < 24; ++step) {
    const std::uint64_t first = trainer.state().examples, epoch = first / 23;
    const Tensor before = *buffers_of(model)[1].tensor;
    const std::uint64_t epochs = model.prototypes()->epochs();
    trainer.step();
    const bool found = epoch >= 1 && epochs < epoch + 1;
    EXPECT_EQ(model.prototypes()->epochs(), epoch >= 1 ? epoch + 1 : 0) << first;
    EXPECT_EQ(*buffers_of(model)[1].tensor != before, found) << first;
  }
  task->abilities().steps->before_step(23);  // of a fork that begins anew
  EXPECT_EQ(model.prototypes()->epochs(), 2u);
}

TEST_F(ContrastTaskTest, ViewsDependOnTheStepAndNotOnTheBatch) {
  const auto task = make_task(shapes());
  const auto loss = [&](std::uint64_t step) {
    Tape tape;
    tape.step = step;
    return double(task->loss(tape, task->data().in_order(Split::train, 0, 4)).value().data()[0]);
  };
  EXPECT_EQ(loss(3), loss(3));
  EXPECT_NE(loss(3), loss(4));
}

TEST_F(ContrastTaskTest, PredictsEmbeddings) {
  const auto events_task = make_task(events());
  const NamedArray of_events =
      predict(events_task, parse_csv(event_rows(3), "input", table_options(events()).csv));
  EXPECT_EQ(of_events.values.shape()[0], 3u);
  EXPECT_EQ(of_events.columns.size(), 8u);
  EXPECT_EQ(of_events.columns[7], "e8");

  const auto series_task = make_task(series({"data.stride=3"}));
  const NamedArray of_series =
      predict(series_task, parse_csv(series_rows(15), "input", table_options(series()).csv));
  ASSERT_EQ(of_series.values.shape()[0], 4u);  // two windows of each series
  EXPECT_EQ(of_series.columns[0], "row");
  EXPECT_THAT((std::vector<double>{of_series.values(0, 0), of_series.values(1, 0),
                                   of_series.values(2, 0), of_series.values(3, 0)}),
              ElementsAre(23, 29, 24, 30));
}

/// The embeddings of a split are those that predict() gives for the same images.
TEST_F(ContrastTaskTest, EmbedsASplit) {
  const auto task = make_task(shapes());
  const Embeddings all = embeddings_of(task, Split::validation, 4);
  EXPECT_EQ(all.width, 8u);
  EXPECT_EQ(all.classes, 4u);
  EXPECT_EQ(all.values.size(), 7 * 8u);
  EXPECT_EQ(all.labels.size(), 7u);
  EXPECT_EQ(embeddings_of(make_task(events()), Split::train, 4).labels.size(), 0u);
  EXPECT_EQ(embeddings_of(make_task(events({"data.label_column=kind"})), Split::train, 4).classes,
            2u);
  EXPECT_EQ(embeddings_of(make_task(series()), Split::train, 4).classes, 2u);
}

TEST_F(ContrastTaskTest, DrawsItsEmbeddings) {
  Page page("title", "");
  illustrate(make_task(shapes()), page);
  EXPECT_THAT(page.html(), HasSubstr("7 examples of the validation split"));
  EXPECT_THAT(page.html(), HasSubstr("label 3"));
  EXPECT_EQ(XmlReader(page.html()).problem(), "");
}

/// The first direction of rows on a line in the plane of two axes is that line.
TEST(PrincipalPlane, IsWhereRowsDifferMost) {
  std::vector<double> rows;
  for (int i = -3; i <= 3; ++i)
    for (const double j : {-0.1, 0.1}) rows.insert(rows.end(), {3.0 * i + 7, 4.0 * i, j});
  const std::vector<double> plane = principal_plane(rows, 3);
  for (std::size_t i = 0; i < 14; ++i) {
    EXPECT_NEAR(std::abs(plane[2 * i]), 5 * std::abs(double(i / 2) - 3), 1e-6);
    EXPECT_NEAR(std::abs(plane[2 * i + 1]), 0.1, 1e-6);
  }
}

/// What is asked of embeddings of sequences that differ in everything, with their labels.
TEST_F(ContrastTaskTest, IsProbed) {
  const Config config = events({"data.label_column=kind"});
  const auto task = make_task(config);
  const std::vector<Measure> measures = probe_measures(*task, Split::validation, 4, 1);
  ASSERT_EQ(measures.size(), 2u);
  EXPECT_EQ(measures[0].name, "probe");
  EXPECT_EQ(measures[0].sum / measures[0].terms, 1);
  EXPECT_EQ(measures[1].name, "purity");
  EXPECT_TRUE(probe_measures(*make_task(events()), Split::validation, 4, 1).empty());
  EXPECT_TRUE(probe_measures(*make_task(tiny_config(folder_.write("text", tiny_text()))),
                             Split::validation, 4, 1)
                  .empty());
}

TEST_F(ContrastTaskTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(error_of([&] { shapes({"train.shards=2"}); }),
              HasSubstr("train.shards = 2: must be 1 for a contrastive model"));
  EXPECT_THAT(error_of([&] { shapes({"train.batch=1"}); }),
              HasSubstr("train.batch = 1: must be at least 2"));
  EXPECT_THAT(error_of([&] { shapes({"model.positions=encoding"}); }),
              HasSubstr("model.positions = \"encoding\": must not be \"encoding\""));
  EXPECT_THAT(error_of([&] { shapes({"model.contrast.clusters=[3,4]"}); }),
              HasSubstr("model.contrast.clusters has no effect with model.contrast.kind = "
                        "\"info_nce\"; remove it"));
  EXPECT_THAT(error_of([&] {
                shapes({"model.contrast=prototypes", "model.contrast.clusters=[2.5]"});
              }),
              HasSubstr("must be whole"));
  EXPECT_THAT(error_of([&] {
                shapes({"model.contrast=prototypes", "model.contrast.clusters=[]"});
              }),
              HasSubstr("model.contrast.clusters = []: must not be empty"));
  EXPECT_THAT(error_of([&] { shapes({"data.views.drop=0.5"}); }),
              HasSubstr("data.views.drop has no effect with data.kind = \"shapes\"; remove it"));
  EXPECT_THAT(
      error_of([&] { events({"data.views.shift=0.5"}); }),
      HasSubstr("data.views.shift has no effect with data.kind = \"event_files\"; remove it"));
  EXPECT_THAT(error_of([&] { tiny_config("unused", {"model.contrast.width=8"}); }),
              HasSubstr("model.contrast.width has no effect with model.kind = \"lm\"; remove it"));
  EXPECT_THAT(error_of([&] { series({"data.horizon=4"}); }),
              HasSubstr("data.horizon has no effect with model.kind = \"contrastive\"; remove it"));
  EXPECT_THAT(error_of([&] { series({"model.patch.length=16"}); }),
              HasSubstr("model.patch.length = 16: must be at most data.lookback = 12"));
  EXPECT_THAT(message_of<DataError>([&] { make_task(shapes({"model.patch.pixels=5"})); }),
              HasSubstr("images of 12 x 12 pixels: model.patch.pixels = 5 must divide both sides"));
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                make_task(shapes({"model.contrast=prototypes", "model.contrast.clusters=[24]"}));
              }),
              HasSubstr("model.contrast.clusters has 24 clusters for 23 training examples"));
}

TEST_F(ContrastTaskTest, SaysWhatIsWrongWithATable) {
  const auto task = make_task(series());
  EXPECT_THAT(message_of<DataError>([&] {
                predict(task, parse_csv(series_rows(5), "input", table_options(series()).csv));
              }),
              HasSubstr("all series of the table are shorter than data.lookback = 12 rows"));
  EXPECT_THAT(message_of<DataError>([&] {
                predict(task,
                        parse_csv("which,x,y\nother,1,2\n", "input", table_options(series()).csv));
              }),
              HasSubstr("series other: unknown to the model"));
}

TEST_F(ContrastTaskTest, AnswersWithoutItsData) {
  const Config of_events = events({"data.label_column=kind"}), of_series = series();
  const auto events_task = make_task(of_events), series_task = make_task(of_series);
  std::filesystem::remove(folder_.path() / "events.csv");
  std::filesystem::remove(folder_.path() / "series.csv");
  const auto answers_alike = [](const Config& config, const std::unique_ptr<Task>& task,
                                const std::string& text) {
    const auto learner = without_data(config, task);
    AnswersTables& answers = *learner->abilities().tables;
    const NamedArray question = parse_csv(text, "input", answers.read_options().csv);
    EXPECT_EQ(answers.predict(question).values, predict(task, question).values);
    EXPECT_EQ(answers.input_columns(), tables(task).input_columns());
    EXPECT_EQ(learner->describe(), describe_model(task));
    Tape tape({.recording = false});
    HasSpecimens& specimens = *learner->abilities().specimens;
    ASSERT_GT(specimens.specimens(), 0u);
    for (std::size_t i = 0; i < specimens.specimens(); ++i) specimens.forward_specimen(tape, i);
  };
  answers_alike(of_events, events_task, event_rows(3));
  answers_alike(of_series, series_task, series_rows(15));
  EXPECT_THAT(series_task->learner().series(), ElementsAre("slow", "fast"));
}

TEST_F(ContrastTaskTest, RefusesDamagedFacts) {
  for (const Config& config : {shapes(), events(), series()})
    expect_refuses_damaged_facts(config, make_task(config)->learner().facts());
  const Config config = events();
  auto facts = decode_facts<LabelFacts>(make_task(config)->learner().facts());
  facts.specimens[0].tokens.values[0] = std::int32_t(facts.vocabulary);
  EXPECT_THROW(make_learner(config, {.bytes = encode_facts(facts)}), DataError);
}

}  // namespace contrast_task_test
}  // namespace bochner
