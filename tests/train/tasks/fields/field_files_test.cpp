#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/npy.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

#include "train/ask.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace field_files_test {

using testing::HasSubstr;

/// A wave around 50 that moves a pixel a frame.
NamedArray waves(std::size_t films, std::size_t frames) {
  NamedArray array;
  array.values = xt::zeros<double>({films, frames, std::size_t(4), std::size_t(6)});
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    const double x = double(i % 6), t = double(i / 24 % frames), phase = double(i / 24 / frames);
    array.values.data()[i] = 50 + 10 * std::sin((x - t) * std::acos(-1) / 3 + phase);
  }
  return array;
}

class FieldFilesTaskTest : public testing::Test {
 protected:
  FieldFilesTaskTest() { write(waves(10, 8)); }
  void write(const NamedArray& films) const {
    std::string bytes;
    write_npy(films.values, [&](std::string_view piece) { bytes += piece; });
    folder_.write("films.npy", bytes);
  }
  Config config(const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> all = {"model.kind=field",       "data.kind=field_files",
                                    "data.frames=3",          "data.validation=0.2",
                                    "model.encoding.space=4", "model.encoding.time=2"};
    all.insert(all.end(), sets.begin(), sets.end());
    return tiny_config(folder_.path() / "films.npy", all);
  }
  TemporaryFolder folder_;
};

Evaluation validated(Task& task) { return *evaluate_task(task, Split::validation, 4); }

TEST_F(FieldFilesTaskTest, TakesItsSizesFromTheFiles) {
  const auto task = make_task(config({"model.patch.pixels=2"}));
  EXPECT_EQ(task->data().words(),
            "10 films, 3 frames of 4 x 6  ·  40 examples to train, 10 to validate");
  EXPECT_EQ(task->data().tokens_per_example(), 3u * 2 * 3);
  EXPECT_NO_THROW(make_task(config({"data.height=4"})));
  EXPECT_NO_THROW(make_task(config({"data.height=0", "data.width=0"})));
  EXPECT_THAT(message_of<DataError>([&] { make_task(config({"data.width=12"})); }),
              HasSubstr("data.width = 12: the films have 6; remove the key"));
  EXPECT_THAT(message_of<DataError>([&] { make_task(config({"data.height=5"})); }),
              HasSubstr("data.height = 5: the films have 4"));
  EXPECT_THAT(message_of<DataError>([&] { make_task(config({"model.patch.pixels=4"})); }),
              HasSubstr("model.patch.pixels = 4: must divide data.width = 6"));
}

/// A zero head repeats the last frame in the unit of the data; its error is in units of the
/// training variance, 50.
TEST_F(FieldFilesTaskTest, MeasuresInUnitsOfTheTrainingFrames) {
  const auto task = make_task(config());
  for (const NamedParameter& named : parameters_of(task->model()))
    if (named.name.starts_with("head")) named.parameter->value().fill(0);
  const Evaluation silent = validated(*task);
  EXPECT_NEAR(silent.loss(), silent.mean("persistence"), 1e-5);
  EXPECT_NEAR(silent.loss(), 1, 1e-3);  // 2 - 2 cos(60 degrees), in units of the variance
  EXPECT_EQ(silent.measures.size(), 1u);
  NamedArray film;
  film.values = xt::ones<double>({3, 4, 6}) * 47;
  for (const double value : predict(task, film).values) EXPECT_NEAR(value, 47, 1e-4);
  EXPECT_EQ(buffers_of(task->model()).front().name, "standardize.mean");
}

TEST_F(FieldFilesTaskTest, LearnsFilmsAndDrawsThem) {
  const Config learning =
      config({"model.mixer.kind=softmax", "model.width=16", "train.batch=16", "optim.lr=0.01",
              "train.steps=200", "optim.schedule.kind=cosine"});
  const auto task = make_task(learning);
  train(learning, *task, 200);
  const Evaluation result = validated(*task);
  EXPECT_LT(result.loss(), 0.5 * result.mean("persistence"));
  Page page("title", "subtitle");
  illustrate(task, page);
  EXPECT_EQ(xml_problem(page.html()), "");
}

TEST_F(FieldFilesTaskTest, AnswersWithoutItsFilms) {
  const Config config = this->config();
  const auto task = make_task(config);
  std::filesystem::remove(folder_.path() / "films.npy");
  const auto learner = without_data(config, task);
  NamedArray film;
  film.values = xt::ones<double>({3, 4, 6}) * 47;
  const NamedArray next = learner->abilities().tables->predict(film);
  EXPECT_EQ(next.values, predict(task, film).values);
  EXPECT_EQ(learner->describe(), describe_model(task));
  Tape tape({.recording = false});
  ASSERT_EQ(learner->abilities().specimens->specimens(), 10u);
  EXPECT_NO_THROW(learner->abilities().specimens->forward_specimen(tape, 9));
}

TEST_F(FieldFilesTaskTest, OtherFilmsHaveAnotherFingerprint) {
  const std::uint64_t print = make_task(config())->data().fingerprint();
  EXPECT_EQ(make_task(config())->data().fingerprint(), print);
  NamedArray other = waves(10, 8);
  other.values(0, 0, 0, 0) += 1;
  write(other);
  EXPECT_NE(make_task(config())->data().fingerprint(), print);
}

}  // namespace field_files_test
}  // namespace bochner
