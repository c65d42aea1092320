#include <gmock/gmock.h>

#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/layers/models/variational_autoencoder.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/text/text_facts.hpp>
#include <cmath>
#include <set>

#include "data/image_files.hpp"
#include "data/messages.hpp"
#include "faults/crashing_storage.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace latent_task_test {

using testing::ElementsAre;
using testing::HasSubstr;

using Sets = std::vector<std::string>;

const Sets shapes{"data.kind=shapes", "data.side=12", "model.patch.pixels=3",
                  "data.train_examples=40", "data.validation_examples=8"};
const Sets series{"data.kind=series", "data.lookback=8", "model.patch.length=2",
                  "data.splits=[0.6,0.4,0]"};
const Sets texts{"data.kind=bytes", "data.validation=0.3"};
const Sets images{"data.kind=images", "model.patch.pixels=2", "data.validation=0.25"};

HasLatent& latent_of(const std::unique_ptr<Task>& task) {
  return *task->learner().abilities().latent;
}

class Latent : public testing::Test {
 protected:
  Latent() {
    std::string rows = "level,other\n";
    for (int i = 0; i < 120; ++i)
      rows += std::to_string(std::sin(0.4 * i)) + "," + std::to_string(i % 5) + "\n";
    folder_.write("rows.csv", rows);
    folder_.write("text", tiny_text());
    std::string pixels;
    for (int i = 0; i < 16 * 24; ++i) pixels += i % 7 < 3 || i % 16 < 4 ? '\xff' : '\x40';
    folder_.write("digits/a-images", idx_file({16, 4, 6}, pixels));
    folder_.write("digits/b-labels", idx_file({16}, std::string(16, '\1')));
  }
  std::string file_of(const Sets& data) const {
    return data == series ? "rows.csv" : data == texts ? "text" : "digits/*";
  }
  Config config(const Sets& data, const Sets& more = {}) const {
    Sets all{"model.kind=vae", "model.vae.latent=3"};
    all.insert(all.end(), data.begin(), data.end());
    all.insert(all.end(), more.begin(), more.end());
    return tiny_config(folder_.path() / file_of(data), all);
  }
  std::unique_ptr<Task> task(const Sets& data, const Sets& more = {}) const {
    return make_task(config(data, more));
  }
  std::string error_of(const Sets& data, const Sets& more) const {
    return message_of<ConfigError>([&] { config(data, more); });
  }
  TemporaryFolder folder_;
};

TEST_F(Latent, IsMadeOfAConfig) {
  EXPECT_THAT(describe_model(task(shapes)), HasSubstr("16 tokens, latent 3"));
  EXPECT_THAT(describe_model(task(series)), HasSubstr("4 tokens, latent 3"));
  EXPECT_THAT(describe_model(task(texts)), HasSubstr("8 tokens, latent 3"));
  EXPECT_THAT(describe_model(task(images)), HasSubstr("6 tokens, latent 3"));
  EXPECT_EQ(task(images)->data().examples(Split::validation), 4u);
}

TEST_F(Latent, NeedsNoLabelsOfImages) {
  const std::uint64_t labelled = task(images)->data().examples(Split::train);
  std::filesystem::remove(folder_.path() / "digits/b-labels");
  EXPECT_EQ(task(images)->data().examples(Split::train), labelled);
}

/// The two parts add up to the bound; more draws make it tighter.
TEST_F(Latent, MeasuresReconstructionAndDivergence) {
  for (const Sets& data : {shapes, series, texts, images}) {
    const auto one = task(data);
    const Evaluation plain = *evaluate_task(*one, Split::validation, 3);
    EXPECT_NEAR(plain.loss(), plain.mean("reconstruction") + plain.mean("kl"), 1e-6);
    EXPECT_THAT(plain.words(), HasSubstr(" reconstruction   "));
    EXPECT_EQ(plain.loss(), evaluate_task(*one, Split::validation, 3)->loss());
    EXPECT_NEAR(plain.loss(), evaluate_task(*one, Split::validation, 2)->loss(), 1e-3);
    one->abilities().bounds->evaluate_by(50);
    const Evaluation weighted = *evaluate_task(*one, Split::validation, 3);
    EXPECT_LT(weighted.loss(), weighted.mean("elbo"));
    EXPECT_NEAR(weighted.mean("kl"), plain.mean("kl"), 1e-6);
    EXPECT_THROW(one->abilities().bounds->evaluate_by(0), std::invalid_argument);
  }
}

TEST_F(Latent, Learns) {
  for (const Sets& data : {shapes, series, texts}) {
    const Config learning = config(data, {"optim.lr=0.01", "train.batch=8", "model.vae.warmup=20"});
    const auto trained = make_task(learning);
    const double before = evaluate_task(*trained, Split::validation, 8)->loss();
    train(learning, *trained, 60);
    EXPECT_LT(evaluate_task(*trained, Split::validation, 8)->loss(), before - 1) << data[0];
  }
}

TEST_F(Latent, ResumesToTheBit) {
  for (const Sets& data : {shapes, series, texts, images})
    for (const bool is_discrete : {false, true}) {
      Sets keys{"model.vae.draws=2",  "model.vae.warmup=9",      "model.dropout=0.1",
                "train.accumulate=2", "train.steps=16",          "train.validate.every=5",
                "train.log.every=3",  "train.checkpoint.every=4"};
      if (is_discrete)
        keys.insert(keys.end(), {"model.vae.gradient=score", "model.vae.discrete.categories=3",
                                 "model.vae.discrete.anneal=5"});
      const Config learning = config(data, keys);
      faults::CrashingStorage whole, parts;
      start_leg(whole, learning, 1);
      start_leg(parts, learning, 2, Ending::signal, 7);
      resume_leg(parts, 3);
      EXPECT_EQ(difference(remains_of(parts), remains_of(whole)), "") << data[0] << is_discrete;
    }
}

TEST_F(Latent, DrawnPixelsAreAsOftenOneAsTheyAreBright) {
  const auto drawn = task(images, {"model.vae.binarise=drawn"});
  const Examples first = drawn->data().training(0, 8), later = drawn->data().training(12, 8);
  const auto loss = [&](const Examples& examples) {
    Tape tape;
    return double(drawn->loss(tape, examples).value()());
  };
  EXPECT_EQ(loss(first), loss(first));
  Examples again = first;
  for (Examples::Number& number : again.numbers) number.epoch = 1;
  EXPECT_NE(loss(first), loss(again)) << "pixels are drawn anew in every epoch";
  const auto fixed = task(images);
  Tape one, two;
  EXPECT_EQ(fixed->loss(one, first).value()(), fixed->loss(two, again).value()());
}

TEST_F(Latent, SaysWhatIsLatentAndWhatIsExpected) {
  const auto of_images = task(images);
  NamedArray input;
  input.values = 255 * xt::ones<double>({2, 4, 6});
  const NamedArray latent = latent_of(of_images).latent(input);
  EXPECT_THAT(latent.columns, ElementsAre("mean_1", "mean_2", "mean_3", "deviation_1",
                                          "deviation_2", "deviation_3"));
  EXPECT_EQ(latent.values.shape()[0], 2u);
  EXPECT_EQ(latent.values(0, 0), latent.values(1, 0));
  EXPECT_GT(latent.values(0, 3), 0);
  const NamedArray expected = predict(of_images, input);
  EXPECT_THAT(expected.values.shape(), ElementsAre(2, 4, 6));
  EXPECT_TRUE(expected.values(0, 0, 0) > 0 && expected.values(0, 0, 0) < 255);

  const auto of_series = task(series);
  std::string rows = "other,level\n";
  for (int i = 0; i < 19; ++i) rows += std::to_string(i % 5) + ",0.5\n";
  CsvOptions named;
  named.columns = tables(of_series).input_columns();
  const NamedArray table = parse_csv(rows, "new.csv", named);
  EXPECT_EQ(latent_of(of_series).latent(table).values.shape()[0], 2u)
      << "two windows of 8 rows, and a rest";
  EXPECT_THAT(predict(of_series, table).columns, ElementsAre("window", "level", "other"));
  EXPECT_EQ(predict(of_series, table).values.shape()[0], 16u);

  const auto of_texts = task(texts);
  EXPECT_EQ(latent_of(of_texts).latent_of_texts({"line 123", "line 1234 and"}).values.shape()[0],
            2u);
  EXPECT_EQ(
      of_texts->learner().abilities().texts->predict_texts({"line 123"}, 1).texts.at(0)[0].size(),
      8u);
}

TEST_F(Latent, SaysCategoriesAndDeviations) {
  const auto of_series =
      task(series, {"model.vae.variance=of_z", "model.vae.latent=1",
                    "model.vae.discrete.categories=4", "model.vae.discrete.variables=2"});
  EXPECT_THAT(describe_model(of_series), HasSubstr("latent 1 + 2 x 4 categories"));
  CsvOptions named;
  named.columns = tables(of_series).input_columns();
  std::string rows = "level,other\n";
  for (int i = 0; i < 16; ++i) rows += "0.5,2\n";
  const NamedArray table = parse_csv(rows, "new.csv", named),
                   latent = latent_of(of_series).latent(table), said = predict(of_series, table);
  EXPECT_THAT(latent.columns, ElementsAre("mean_1", "deviation_1", "category_1", "category_2",
                                          "probability_1", "probability_2"));
  EXPECT_TRUE(latent.values(0, 2) >= 1 && latent.values(0, 2) <= 4);
  EXPECT_GE(latent.values(0, 5), 0.25);
  EXPECT_THAT(said.columns,
              ElementsAre("window", "level", "other", "level_deviation", "other_deviation"));
  const auto& unit = dynamic_cast<VariationalAutoencoder&>(of_series->model()).standardize();
  EXPECT_NEAR(said.values(3, 4), unit.deviations()[1], 1e-3) << "as in the data, at first";
  Page page("title", "subtitle");
  illustrate(of_series, page);
  EXPECT_THAT(page.html(), HasSubstr("level, categories"));
}

/// Images of three patterns with a wrong pixel each, and three categories.
TEST_F(Latent, ReportsThreeClusters) {
  std::string pixels;
  for (int i = 0; i < 60; ++i)
    for (int p = 0; p < 24; ++p) {
      const bool on = i % 3 == 0 ? p < 12 : i % 3 == 1 ? p % 2 == 0 : p % 6 > 2;
      pixels += on != (p == i * 7 % 24) ? '\xff' : '\0';
    }
  folder_.write("digits/a-images", idx_file({60, 4, 6}, pixels));
  folder_.write("digits/b-labels", idx_file({60}, std::string(60, '\1')));
  const Config learning = config(
      images, {"model.vae.latent=0", "model.vae.discrete.categories=3", "model.vae.warmup=40",
               "model.vae.discrete.gradient=exact", "optim.lr=0.01", "train.batch=15"});
  const auto trained = make_task(learning);
  train(learning, *trained, 120);
  Page page("title", "subtitle");
  illustrate(trained, page);
  EXPECT_EQ(xml_problem(page.html()), "");
  EXPECT_THAT(page.html(), HasSubstr("3 of 3 categories are the most probable one"));
  EXPECT_THAT(page.html(), HasSubstr("categories, row by row"));
  NamedArray input;
  input.values = xt::zeros<double>({60, 4, 6});
  for (std::size_t i = 0; i < input.values.size(); ++i)
    input.values.flat(i) = pixels[i] == '\0' ? 0 : 255;
  const NamedArray latent = latent_of(trained).latent(input);
  EXPECT_THAT(latent.columns, ElementsAre("category_1", "probability_1"));
  std::set<double> found;
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(latent.values(i, 0), latent.values(i % 3, 0)) << i;
    found.insert(latent.values(i, 0));
  }
  EXPECT_EQ(found.size(), 3u);
}

/// Windows keep their places: an exact decoder would reproduce them.
TEST_F(Latent, SamplesAreFunctionsOfTheSeed) {
  for (const Sets& data : {shapes, series, texts, images}) {
    const auto one = task(data);
    const NamedArray few = latent_of(one).sample(2, 7), more = latent_of(one).sample(70, 7);
    EXPECT_EQ(more.values.size(), 35 * few.values.size());
    if (data != texts) {
      EXPECT_NEAR(few.values.flat(1), more.values.flat(1), 1e-4);
      EXPECT_NE(few.values.flat(few.values.size() - 1),
                latent_of(one).sample(2, 8).values.flat(few.values.size() - 1));
    }
  }
}

TEST_F(Latent, DrawsSamplesReconstructionsAndDivergences) {
  for (const Sets& data : {shapes, series, texts, images}) {
    Page page("title", "subtitle");
    illustrate(task(data), page);
    EXPECT_EQ(xml_problem(page.html()), "");
    EXPECT_THAT(page.html(), HasSubstr("Latent variable"));
    EXPECT_THAT(page.html(), HasSubstr("divergence from the prior by latent dimension"));
    EXPECT_THAT(page.html(),
                HasSubstr(data == texts ? "sample of the prior" : "samples of the prior"));
  }
}

TEST_F(Latent, GivesItsExamplesAsArrays) {
  for (const Sets& data : {series, texts}) {
    const auto one = task(data);
    const NamedArrays all = one->arrays(one->data().in_order(Split::validation, 0, 2));
    EXPECT_EQ(all[0].first, data == texts ? "tokens" : "values");
    EXPECT_EQ(all[1].second.shape()[0], 2u);
  }
}

TEST_F(Latent, SaysWhatDoesNotFit) {
  EXPECT_THAT(error_of(shapes, {"model.vae.gradient=score"}),
              HasSubstr("model.vae.draws = 1: must be at least 2 with model.vae.gradient"));
  EXPECT_THAT(error_of(series, {"model.patch.length=3"}),
              HasSubstr("model.patch.length = 3: must divide data.lookback = 8"));
  EXPECT_THAT(error_of(series, {"model.vae.binarise=drawn"}),
              HasSubstr("model.vae.binarise has no effect with data.kind = \"series\"; remove it"));
  EXPECT_THAT(error_of(series, {"data.horizon=9"}),
              HasSubstr("data.horizon has no effect with model.kind = \"vae\"; remove it"));
  EXPECT_THAT(error_of(shapes, {"model.positions=encoding"}),
              HasSubstr("must not be \"encoding\" for model.kind"));
  EXPECT_THAT(
      error_of(shapes, {"model.kind=classifier"}),
      HasSubstr("model.patch.pixels has no effect with model.kind = \"classifier\"; remove it"));
  EXPECT_THAT(error_of(texts, {"model.vae.latent=0"}),
              HasSubstr("must be at least 1 with model.vae.discrete.categories = 0"));
  EXPECT_THAT(error_of(texts, {"model.vae.pooling=cls"}), HasSubstr("must be"));
  const std::string categories = "model.vae.discrete.categories=";
  EXPECT_THAT(error_of(texts, {categories + "1"}), HasSubstr("must be 0 or at least 2"));
  EXPECT_THAT(error_of(texts, {categories + "17", "model.vae.discrete.gradient=exact",
                               "model.vae.discrete.variables=2"}),
              HasSubstr("sums over all values of the discrete variables, at most 256; reduce"));
  EXPECT_THAT(error_of(texts, {"model.vae.latent=0", categories + "3", "model.vae.gradient=score"}),
              HasSubstr("model.vae.gradient has no effect with model.vae.latent = 0; remove it"));
  EXPECT_THAT(error_of(texts, {"model.vae.discrete.temperature=2"}),
              HasSubstr("has no effect with model.vae.discrete.categories = 0; remove it"));
  EXPECT_THAT(error_of(texts, {"model.vae.variance=of_z"}),
              HasSubstr("model.vae.variance has no effect with data.kind = \"bytes\""));
  EXPECT_THAT(error_of({"data.kind=copy"}, {}), HasSubstr("cannot learn data.kind = \"copy\""));
  EXPECT_THAT(message_of<ConfigError>([&] { task(shapes, {"model.patch.pixels=5"}); }),
              HasSubstr("model.patch.pixels = 5: must divide the 12 x 12 pixels of an image"));
  const auto of_texts = task(texts);
  EXPECT_THAT(message_of<DataError>([&] {
                latent_of(of_texts).latent_of_texts({"line 123", "short"});
              }),
              HasSubstr("text 2 has 5 bytes; the model needs 8"));
  EXPECT_THAT(message_of<std::invalid_argument>([&] { latent_of(of_texts).latent({}); }),
              HasSubstr("cannot read tables"));
  const auto of_series = task(series);
  EXPECT_THAT(message_of<DataError>(
                  [&] { latent_of(of_series).latent(parse_csv("level,other\n1,2\n", "new.csv")); }),
              HasSubstr("1 rows of 2 values; the model needs windows of 8 rows of 2"));
  EXPECT_EQ(
      message_of<DataError>([&] { task(series, {"data.lookback=90"}); }),
      "the training split has 72 rows, too few for data.lookback = 90; shorten them or change "
      "data.splits");
  EXPECT_THAT(
      message_of<std::invalid_argument>([&] { latent_of(of_series).latent_of_texts({"a"}); }),
      HasSubstr("cannot read texts"));
  EXPECT_THAT(message_of<DataError>([&] { latent_of(task(images)).latent({}); }),
              HasSubstr("not that of images of 4 x 6 x 1"));
}

/// Warmup counts steps of the optimizer, each of which may be several passes.
TEST_F(Latent, WarmsUpInSteps) {
  const auto made = task(shapes, {"model.vae.warmup=4", "model.vae.discrete.categories=2",
                                  "model.vae.discrete.anneal=5", "train.accumulate=3"});
  const LatentSpec& latent = dynamic_cast<VariationalAutoencoder&>(made->model()).spec().latent;
  EXPECT_EQ(latent.warmup, 12u);
  EXPECT_EQ(latent.discrete.anneal, 15u);
}

TEST_F(Latent, AnswersWithoutItsData) {
  for (const Sets& data : {shapes, series, texts, images}) {
    const Config config = this->config(data);
    const auto one = make_task(config);
    std::filesystem::rename(folder_.path(), folder_.path().string() + "-away");
    const auto learner = without_data(config, one);
    const NamedArray drawn = learner->abilities().latent->sample(3, 7),
                     same = latent_of(one).sample(3, 7);
    EXPECT_EQ(drawn.values, same.values) << data[0];
    EXPECT_EQ(drawn.texts, same.texts);
    EXPECT_EQ(learner->describe(), describe_model(one));
    EXPECT_EQ(learner->facts(), one->learner().facts());
    Tape tape({.recording = false});
    HasSpecimens& specimens = *learner->abilities().specimens;
    ASSERT_GT(specimens.specimens(), 0u);
    for (std::size_t i = 0; i < specimens.specimens(); ++i) specimens.forward_specimen(tape, i);
    std::filesystem::rename(folder_.path().string() + "-away", folder_.path());
  }
}

TEST_F(Latent, RefusesDamagedFacts) {
  for (const Sets& data : {shapes, series, texts, images}) {
    const Config config = this->config(data);
    expect_refuses_damaged_facts(config, make_task(config)->learner().facts());
  }
  const Config config = this->config(texts);
  auto facts = decode_facts<TextFacts>(make_task(config)->learner().facts());
  facts.specimens[0].inputs.values[3] = 256;
  EXPECT_THROW(make_learner(config, {.bytes = encode_facts(facts)}), DataError);
}

}  // namespace latent_task_test
}  // namespace bochner
