#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/fields/fields.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/fields/field_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

#include "data/batches.hpp"
#include "train/ask.hpp"
#include "train/tasks/fields/field_config.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace field_task_test {

using testing::HasSubstr;

std::string error_of(const std::vector<std::string>& sets) {
  try {
    field_config(sets);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

Evaluation validated(Task& task) { return *evaluate_task(task, Split::validation, 2); }

TEST(FieldTask, IsMadeOfAConfig) {
  const auto task = make_task(field_config({"model.patch.pixels=2", "model.encoding.kind=space"}));
  EXPECT_EQ(task->data().tokens_per_example(), 3u * 3 * 2);
  EXPECT_THAT(describe_model(task), HasSubstr("field, 1 block, D 8, softmax"));
  EXPECT_THAT(describe_model(task), HasSubstr("encoding space, patches of 2 x 2"));
  EXPECT_EQ(task->data().words(),
            "advection_diffusion, 3 frames of 6 x 4  ·  10000 examples to train, 5 to validate");
  EXPECT_NE(task->data().fingerprint(),
            make_task(field_config({"data.speed=2"}))->data().fingerprint());
}

/// A zero head repeats the last frame: its error is that of persistence.
TEST(FieldTask, MeasuresAgainstPersistenceAndTheExactSolution) {
  const auto task = make_task(field_config());
  for (const NamedParameter& named : parameters_of(task->model()))
    if (named.name.starts_with("head")) named.parameter->value().fill(0);
  const Evaluation silent = validated(*task);
  EXPECT_EQ(silent.terms, 5u * 24);
  EXPECT_GT(silent.loss(), 1e-3);
  EXPECT_NEAR(silent.loss(), silent.mean("persistence"), 1e-9);
  double relative = 0;
  const auto& data = dynamic_cast<const FieldSource&>(task->data());
  const FieldBatch batch = held_out_batch(data, 0, 5);
  for (std::size_t b = 0; b < 5; ++b) {
    double error = 0, whole = 0;
    for (std::size_t i = 0; i < 24; ++i) {
      const double truth = double(batch.next.data()[b * 24 + i]);
      error += std::pow(double(batch.frames.data()[(b * 3 + 2) * 24 + i]) - truth, 2);
      whole += truth * truth;
    }
    relative += std::sqrt(error / whole) / 5;
  }
  EXPECT_NEAR(silent.mean("relative_error"), relative, 1e-6);
  EXPECT_THAT(silent.words(), HasSubstr(" mse of the last frame"));
}

TEST(FieldTask, LearnsMoreThanToRepeatTheLastFrame) {
  const Config config =
      field_config({"data.components=1", "data.speed=0.5", "model.mixer.kind=softmax",
                    "model.width=16", "model.blocks=2", "train.batch=16", "optim.lr=0.01",
                    "train.steps=300", "optim.schedule.kind=cosine"});
  const auto task = make_task(config);
  train(config, *task, 300);
  const Evaluation result = validated(*task);
  EXPECT_LT(result.loss(), 0.5 * result.mean("persistence"));
}

TEST(FieldTask, DrawsFieldsAndEncodings) {
  for (const char* kind : {"fused", "time", "none"}) {
    const std::string encoding = std::string("model.encoding.kind=") + kind;
    const auto task = make_task(field_config({encoding}));
    Page page("title", "subtitle");
    illustrate(task, page);
    const std::string html = page.html();
    EXPECT_EQ(xml_problem(html), "");
    EXPECT_THAT(html, HasSubstr("prediction"));
    EXPECT_EQ(html.find("kernel: one place") != std::string::npos, kind != std::string("none"));
  }
}

TEST(FieldTask, LearnsFieldsOfOneAndThreeDimensions) {
  for (const std::string sets : {"data.dimensions=1,data.height=0,data.width=12",
                                 "data.dimensions=3,data.planes=4,data.width=4,data.height=4"}) {
    std::vector<std::string> all = {"data.components=1", "data.speed=0.5", "model.width=16",
                                    "model.patch.pixels=2", "model.encoding.space=6"};
    for (std::size_t i = 0; i < sets.size(); i = sets.find(',', i) + 1) {
      all.push_back(sets.substr(i, sets.find(',', i) - i));
      if (sets.find(',', i) == std::string::npos) break;
    }
    const Config config = field_config(all);
    const auto task = make_task(config);
    const double before = validated(*task).loss();
    train(config, *task, 40);
    EXPECT_LT(validated(*task).loss(), before) << sets;
    Page page("title", "subtitle");
    illustrate(task, page);
    EXPECT_EQ(xml_problem(page.html()), "") << sets;
    const FieldSize size = dynamic_cast<const FieldSource&>(task->data()).size();
    std::vector<std::size_t> film{2, size.frames};
    film.insert(film.end(), size.sides.begin(), size.sides.end());
    NamedArray films;
    films.values = xt::ones<double>(film);
    EXPECT_EQ(predict(task, films).values.size(), 2 * size.pixels());
  }
}

TEST(FieldTask, PredictsTheNextFrameOfFilmsOfTheUsers) {
  const auto task = make_task(field_config());
  NamedArray films;
  films.values = xt::ones<double>({2, 3, 6, 4});
  const NamedArray both = predict(task, films);
  EXPECT_EQ(both.values.size(), 2u * 6 * 4);
  films.values = xt::ones<double>({3, 6, 4});
  const NamedArray one = predict(task, films);
  EXPECT_EQ(one.values.dimension(), 2u);
  for (std::size_t i = 0; i < 24; ++i)
    EXPECT_NEAR(one.values.data()[i], both.values.data()[24 + i], 1e-5);
  films.values = xt::ones<double>({3, 4, 6});
  EXPECT_THROW(predict(task, films), DataError);
}

TEST(FieldTask, RefusesFactsThatContradictThemselves) {
  const Config config = field_config();
  const std::string facts = make_task(config)->learner().facts();
  expect_refuses_damaged_facts(config, facts);
  EXPECT_EQ(make_task(config, {.bytes = facts})->learner().facts(), facts);
  EXPECT_THROW(make_task(field_config({"data.width=8"}), {.bytes = facts}), DataError);
  EXPECT_THROW(
      make_learner(field_config({"model.patch.pixels=3", "data.width=6"}), {.bytes = facts}),
      DataError);
  const auto refuses = [&](const auto& change) {
    auto changed = decode_facts<FieldFacts>(facts);
    change(changed);
    EXPECT_THROW(make_learner(config, {.bytes = encode_facts(changed)}), DataError);
  };
  refuses([](FieldFacts& changed) { changed.frames = 0; });
  refuses([](FieldFacts& changed) { changed.sides = {}; });
  refuses([](FieldFacts& changed) { changed.sides = {6, 4, 1}; });
  refuses([](FieldFacts& changed) { changed.sides = {1 << 20, 1 << 20}; });
  refuses([](FieldFacts& changed) { changed.sides = {4, 6}; });  // specimens are (6, 4)
}

TEST(FieldConfig, SaysWhatDoesNotFit) {
  EXPECT_THAT(error_of({"model.patch.pixels=4"}),
              HasSubstr("model.patch.pixels = 4: must divide data.height = 6"));
  EXPECT_THAT(error_of({"data.height=0", "model.patch.pixels=5"}),
              HasSubstr("model.patch.pixels = 5: must divide data.height = 12"));
  EXPECT_THAT(error_of({"data.dimensions=1"}),
              HasSubstr("data.height has no effect with data.dimensions = 1; remove it"));
  EXPECT_THAT(error_of({"data.planes=6"}),
              HasSubstr("data.planes has no effect with data.dimensions = 2; remove it"));
  EXPECT_THAT(error_of({"data.dimensions=3", "model.encoding.frequencies=axes"}),
              HasSubstr("model.encoding.space = 4: must be a multiple of 3"));
  EXPECT_THAT(error_of({"model.encoding.start=linear", "model.encoding.frequencies=random"}),
              HasSubstr("model.encoding.start = \"linear\": needs learned frequencies"));
  EXPECT_THAT(error_of({"model.encoding.start=linear", "model.encoding.kind=multiplicative"}),
              HasSubstr("model.encoding.start = \"linear\": must be learned or random"));
  EXPECT_THAT(error_of({"data.width=2"}), HasSubstr("data.width = 2: must be at least 3"));
  EXPECT_THAT(error_of({"data.kind=copy"}), HasSubstr("model.kind = \"field\": cannot learn"));
  EXPECT_THAT(error_of({"model.kind=lm"}), HasSubstr("model.kind = \"lm\": cannot learn"));
  EXPECT_THAT(error_of({"model.encoding.kind=additive", "model.width=6"}),
              HasSubstr("model.width = 6: must be a multiple of 4"));
  EXPECT_THAT(error_of({"model.encoding.kind=concatenated"}),
              HasSubstr("model.width = 8: must be greater than 12"));
  EXPECT_THAT(
      error_of({"model.encoding.kind=multiplicative", "model.encoding.frequencies=geometric"}),
      HasSubstr("must be learned or random"));
  EXPECT_THAT(error_of({"model.encoding.frequencies=geometric", "model.encoding.space=3"}),
              HasSubstr("model.encoding.space = 3: must be even"));
  EXPECT_THAT(error_of({"model.mixer.time_kernel=decay"}),
              HasSubstr("model.mixer.time_kernel.kind = \"decay\""));
  EXPECT_THAT(error_of({"model.encoding.kind=concatenated", "model.width=16",
                        "model.encoding.every_block=true"}),
              HasSubstr("model.encoding.every_block = true"));
  EXPECT_EQ(error_of({}), "no error");
}

}  // namespace field_task_test
}  // namespace bochner
