#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/run/distributed_evaluation.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

#include "data/image_files.hpp"
#include "data/temporary_folder.hpp"
#include "train/ask.hpp"
#include "train/thread_processes.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace task_test {

using testing::StartsWith;

Config generated(const std::vector<std::string>& sets) { return tiny_config("unused", sets); }

bool has_parameter(Task& task, const std::string& name) {
  const auto parameters = parameters_of(task.model());
  return std::ranges::any_of(parameters, [&](const auto& named) { return named.name == name; });
}

TEST(Evaluation, AddsUpAndSpeaks) {
  const Evaluation text{20, 10, "nats", {{"bits_per_token", "bits/byte", 20 / std::numbers::ln2}}};
  const Evaluation answers{1, 4, "nats", {{"accuracy", "right", 3, true}}};
  EXPECT_EQ(text.words(), "2.0000 nats   2.8854 bits/byte");
  EXPECT_EQ(answers.words(), "0.2500 nats   75.00 % right");
  EXPECT_EQ(answers.json().line(), R"({"valid":0.25,"accuracy":0.75})");
  Evaluation sum;
  sum += answers;
  sum += Evaluation{4, 1, "nats", {{"accuracy", "right", 0, true}}};
  EXPECT_EQ(sum.json().line(), R"({"valid":1,"accuracy":0.6})");
  EXPECT_EQ(sum.mean("accuracy"), 0.6);
  EXPECT_THROW(sum.mean("bits_per_token"), std::invalid_argument);
  EXPECT_THROW(sum += Evaluation({1, 1}), std::invalid_argument);
}

TEST(EvaluateAnswers, CountsTheLargestLogitsAndLeavesOutWhatIsNotAsked) {
  const Tensor logits = {{{0, 2, 1}, {3, 0, 0}, {1, 1, 0}, {9, 0, 0}}};
  const Indices labels{{1, 4}, {1, 2, 0, TokenTasks::not_asked}};
  const Evaluation result = evaluate_answers(Var(logits), labels);
  const auto loss = [](double a, double b, double c, double right) {
    return std::log(std::exp(a) + std::exp(b) + std::exp(c)) - right;
  };
  EXPECT_EQ(result.terms, 3u);
  EXPECT_EQ(result.mean("accuracy"), 2 / 3.);
  EXPECT_NEAR(result.loss_sum, loss(0, 2, 1, 2) + loss(3, 0, 0, 0) + loss(1, 1, 0, 1), 1e-5);
}

TEST(EvaluateAll, TakesEveryByteOfTheValidationText) {
  TemporaryFolder folder;
  const std::string text = tiny_text();
  const auto task = make_task(tiny_config(folder.write("text", text)));
  const std::uint64_t held = held_out(text.size(), 0.1);
  ASSERT_NE((held - 1) % 8, 0u);
  EXPECT_EQ(evaluate_task(*task, Split::validation, 2)->terms, (held - 1) / 8 * 8);
  EXPECT_EQ(evaluate_all(*task, Split::validation, 2).terms, held - 1);
  EXPECT_GT(evaluate_all(*task, Split::train, 2).terms, 0u);
}

/// Also with more processes than batches.
TEST(EvaluateAll, SaysTheSameInAnyNumberOfProcesses) {
  TemporaryFolder folder;
  const Config config = tiny_config(folder.write("text", tiny_text()));
  const Evaluation alone = evaluate_all(*make_task(config), Split::validation, 2);
  for (const std::size_t count : {2, 3, 7})
    run_processes(count, [&](Processes& processes) {
      const Evaluation all = evaluate_all(*make_task(config), Split::validation, 2, processes);
      if (!processes.leads()) return;
      EXPECT_EQ(all.loss_sum, alone.loss_sum);
      EXPECT_EQ(all.terms, alone.terms);
      EXPECT_EQ(all.words(), alone.words());
    });
}

TEST(MakeTask, ChoosesByModelAndData) {
  EXPECT_THAT(make_task(generated({"data.kind=copy"}))->data().words(),
              "copy, 8 tokens of 20  ·  10000 examples to train, 1000 to validate");
  const auto classifier =
      make_task(generated({"model.kind=classifier", "data.kind=listops", "model.pooling=cls"}));
  EXPECT_THAT(classifier->learner().describe(), StartsWith("classifier, 1 block, D 8, softmax"));
  EXPECT_EQ(classifier->data().tokens_per_example(), 9u);
}

TEST(MakeTask, DescribesThePatternOfItsMixers) {
  const std::string linear = "linear(positive, gaussian, m 4)";
  const auto words = [](const std::string& pattern) {
    return make_task(generated({"data.kind=copy", "model.blocks=5", "model.pattern=" + pattern,
                                "model.mixer.time_kernel.kind=gate", "model.positions=none"}))
        ->learner()
        .describe();
  };
  EXPECT_EQ(words("[\"linear\", \"linear\", \"softmax\"]"),
            "lm, 5 blocks, D 8, 2 " + linear + " x gate + softmax, positions none");
  EXPECT_EQ(words("linear"), "lm, 5 blocks, D 8, " + linear + " x gate, positions none");
}

/// Descriptions show the rule, its rates and the form of a state space.
TEST(MakeTask, DescribesTheFormsOfItsMixers) {
  const auto words = [](const std::string& mixer) {
    return make_task(
               generated({"data.kind=copy", "model.positions=none", "model.mixer={" + mixer + "}"}))
        ->learner()
        .describe();
  };
  EXPECT_EQ(
      words("kind=\"linear\", update=\"delta\", time_kernel={kind=\"gate\", per=\"channel\"}"),
      "lm, 1 block, D 8, linear(positive, gaussian, m 4, delta) x gate per channel, positions "
      "none");
  EXPECT_EQ(words("kind=\"ssm\", ssm={form=\"dss\"}"),
            "lm, 1 block, D 8, ssm(dss), positions none");
  EXPECT_EQ(words("kind=\"hyena\""), "lm, 1 block, D 8, hyena, positions none");
  EXPECT_EQ(words("kind=\"hyena\", filter={kind=\"spectral\"}"),
            "lm, 1 block, D 8, hyena(spectral), positions none");
}

TEST(MakeTask, CountsItsTestExamples) {
  EXPECT_EQ(make_task(generated({"data.kind=copy", "data.test_examples=7"}))->data().words(),
            "copy, 8 tokens of 20  ·  10000 examples to train, 1000 to validate, 7 to test");
}

/// Errors name the key that would keep some.
TEST(RequireExamples, NamesTheKey) {
  const auto error = [](const std::vector<std::string>& sets, Split split) {
    const Config config = generated(sets);
    const auto task = make_task(config);
    return message_of<ConfigError>([&] { require_examples(config, task->data(), split); });
  };
  EXPECT_EQ(error({"data.kind=copy"}, Split::test),
            "tiny.toml: data.test_examples = 0: keeps no test examples; raise it");
  EXPECT_EQ(error({"data.kind=copy", "data.validation_examples=0"}, Split::validation),
            "--set: data.validation_examples = 0: keeps no validation examples; raise it");
  const TemporaryFolder folder;
  const auto file = "data.files=['" + folder.write("text", tiny_text()).string() + "']";
  EXPECT_EQ(error({file}, Split::test),
            "tiny.toml: data.kind = \"bytes\": has no test examples; series and generated data can "
            "have some");
  EXPECT_EQ(error({file, "data.validation=0"}, Split::validation),
            "--set: data.validation = 0.0: keeps no validation examples; raise it");
  std::string rows = "a,b\n";
  for (int i = 0; i < 60; ++i) rows += std::to_string(i) + "," + std::to_string(i * i % 7) + "\n";
  const auto table = "data.files=['" + folder.write("rows.csv", rows).string() + "']";
  EXPECT_EQ(error({"model.kind=forecaster", "data.kind=series", table, "data.lookback=4",
                   "data.horizon=2", "data.splits=[0.8, 0, 0.2]", "model.backbone=linear"},
                  Split::validation),
            "--set: data.splits = [0.8, 0.0, 0.2]: keeps no validation examples; raise its second "
            "number");
}

/// Feature maps with positions are made for the true number of tokens of each task.
TEST(MakeTask, TellsThePositionsOfTheLongestSequenceApart) {
  const std::vector<std::vector<std::string>> tasks = {
      {"model.kind=classifier", "data.kind=shapes", "data.side=12", "model.pooling=cls"},
      {"model.kind=events", "data.kind=hawkes"},
      {"data.kind=copy"}};
  for (std::vector<std::string> sets : tasks) {
    sets.push_back("model.mixer={kind=\"linear\",features=\"cosformer\"}");
    sets.push_back("data.validation_examples=2");
    const auto task = make_task(generated(sets));
    EXPECT_NO_THROW(evaluate_task(*task, Split::validation, 2)) << sets[0];
  }
}

std::string error_of(const std::vector<std::string>& sets) {
  return message_of<ConfigError>([&] { generated(sets); });
}

/// Answers of a copy are at the positions of its symbols, one part later.
TEST(Places, OfGeneratedSequencesArePartAndPlaceInIt) {
  const Config config = generated(
      {"data.kind=copy", "data.length=16", "data.vocabulary=6", "model.positions=encoding",
       "model.encoding.space_scale=4", "model.width=32", "model.blocks=2", "train.batch=16",
       "optim.lr=0.01", "train.steps=150", "data.validation_examples=64"});
  const auto task = make_task(config);
  EXPECT_THAT(task->learner().describe(), testing::EndsWith("positions encoding"));
  EXPECT_TRUE(has_parameter(*task, "encoding.space.frequencies"));
  train(config, *task, 150);
  EXPECT_GT(evaluate_task(*task, Split::validation, 16)->mean("accuracy"), 0.5);
}

TEST(Places, OfImagesAreRowAndColumn) {
  for (const char* pooling : {"mean", "cls"}) {
    const Config config = generated(
        {"model.kind=classifier", "data.kind=shapes", "data.side=12", "model.positions=encoding",
         std::string("model.pooling=") + pooling, "model.encoding.frequencies=axes",
         "model.encoding.start=linear", "train.steps=3", "data.validation_examples=2"});
    const auto task = make_task(config);
    train(config, *task, 3);
    EXPECT_GT(evaluate_task(*task, Split::validation, 2)->loss(), 0);
  }
}

TEST(Places, OfALineTakeTheSeparatorOfTheText) {
  const TemporaryFolder folder;
  const auto loss = [&](const std::string& separator) {
    const Config config = tiny_config(folder.write("text", tiny_text()),
                                      {"model.positions=encoding", "data.separator=" + separator});
    const auto task = make_task(config);
    return evaluate_task(*task, Split::validation, 4)->loss();
  };
  EXPECT_NE(loss("'\\n'"), loss("', '"));
  EXPECT_EQ(loss("'\\n'"), loss("'.\\n'"));  // every line of the text ends in a point
  EXPECT_EQ(loss("'\\n'"), loss("'\\x2e\\x0A'"));
}

/// Draws the encoding of a text by place and line, of an image by pixel; none of other positions.
TEST(Places, AreDrawn) {
  const TemporaryFolder folder;
  const auto text = folder.write("text", tiny_text());
  const auto report = [&](const std::vector<std::string>& sets) {
    Page page("title", "subtitle");
    illustrate(make_task(tiny_config(text, sets)), page);
    EXPECT_EQ(xml_problem(page.html()), "");
    return page.html();
  };
  const std::string lines = report({"model.positions=encoding"});
  EXPECT_THAT(lines, testing::HasSubstr("place in the line"));
  EXPECT_THAT(lines, testing::HasSubstr("kernel: one place, all times"));
  const std::string image = report(
      {"model.kind=classifier", "data.kind=shapes", "data.side=12", "model.positions=encoding"});
  EXPECT_THAT(image, testing::HasSubstr("pixel"));
  EXPECT_THAT(image, testing::HasSubstr("kernel: one place with all"));
  EXPECT_THAT(image, Not(testing::HasSubstr("one place, all times")));
  EXPECT_THAT(report({}), Not(testing::HasSubstr("Encoding of")));
}

TEST(Places, SayWhatDoesNotFit) {
  const auto unused = [](const std::string& set, const std::string& with) {
    EXPECT_THAT(error_of({set}), testing::EndsWith(" has no effect with " + with + "; remove it"));
  };
  unused("model.encoding.time=4", "model.kind = \"lm\" and model.positions = \"learned\"");
  unused("data.separator=x", "model.positions = \"learned\"");
  for (const char* set : {"data.ask=last", "data.planes=4"}) unused(set, "data.kind = \"bytes\"");
  EXPECT_THAT(error_of({"model.positions=encoding", "data.separator="}),
              testing::HasSubstr("data.separator = \"\": must hold at least one byte"));
  EXPECT_THAT(error_of({"model.positions=encoding", "data.separator='a\\q'"}),
              testing::HasSubstr("allows only the escapes \\n, \\t, \\r, \\\\ and \\xHH"));
  for (const char* digits : {"1z", "-1", " 1", "+1", "1", ""})
    EXPECT_THAT(
        error_of({"model.positions=encoding", std::string("data.separator='a\\x") + digits + "'"}),
        testing::HasSubstr("only the escapes"))
        << digits;
  EXPECT_THAT(error_of({"model.positions=encoding", "model.encoding.kind=none"}),
              testing::HasSubstr("model.encoding.kind = \"none\": must not be"));
  EXPECT_THAT(
      error_of({"model.positions=encoding", "model.encoding.kind=additive", "model.width=6"}),
      testing::HasSubstr("model.width = 6: must be a multiple of 4"));
  EXPECT_THAT(error_of({"model.kind=classifier", "data.kind=listops", "model.positions=encoding"}),
              testing::HasSubstr("needs tokens of a text or of an image"));
}

/// A run with unused keys can be resumed.
TEST(Places, OfRunsThatIgnoredThemAreLeftAlone) {
  std::string text = print_config(generated({"data.kind=copy"}), Printed::all);
  text.replace(text.find("space = 32"), 10, "space = 16");
  const Config stored = stored_config(text, "run");
  EXPECT_NO_THROW(validate(stored));
  EXPECT_EQ(stored.integer("model.encoding.space"), 16);
}

TEST(EvaluateTask, TakesAnySplitThatHasExamples) {
  const TemporaryFolder folder;
  const Config config = tiny_config(folder.write("text", tiny_text()), {"data.validation=0"});
  const auto task = make_task(config);
  const std::uint64_t examples = task->data().examples(Split::train);
  EXPECT_EQ(evaluate_task(*task, Split::train, 7)->terms, examples * 8);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { evaluate_task(*task, Split::test, 7); }),
            "[evaluation] the config keeps no test data; set data.test_examples of generated data, "
            "or data.splits");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { evaluate_task(*task, Split::validation, 7); }),
            "[evaluation] the config keeps no validation data; set data.validation, "
            "data.validation_examples or data.splits");
}

TEST(TokenTask, ValidatesOnTheAnswersOfOtherExamples) {
  const Config config = generated({"data.kind=recall", "data.validation_examples=7"});
  const auto task = make_task(config);
  EXPECT_EQ(task->data().batches(Split::validation, 3), 3u);
  const Evaluation all = *evaluate_task(*task, Split::validation, 3);
  EXPECT_EQ(all.terms, 7u);
  // Before training, it is as good as a guess.
  EXPECT_NEAR(all.loss(), std::log(20), 0.5);
  EXPECT_EQ(evaluate_task(*task, Split::validation, 3, 1, [] { return false; })->terms, 3u);
}

TEST(TokenTask, FewBatchesOfAnEvaluationAreSpreadOverTheSplit) {
  const auto task = make_task(generated({"data.kind=recall", "data.validation_examples=7"}));
  Evaluation spread;
  for (const std::uint64_t index : {0, 2, 4}) {
    Tape tape({.recording = false});
    spread += task->evaluate(tape, task->data().part(Split::validation, index, 1));
  }
  EXPECT_EQ(evaluate_task(*task, Split::validation, 1, 3)->loss(), spread.loss());
  EXPECT_EQ(evaluate_task(*task, Split::validation, 1, 7)->loss(),
            evaluate_task(*task, Split::validation, 1)->loss());
}

TEST(TokenTask, ValidatesAndTestsAtAnotherLength) {
  const auto task = make_task(
      generated({"data.kind=induction", "data.validation_examples=4", "data.test_examples=3",
                 "data.validation_length=500", "model.positions=none", "model.mixer.kind=linear"}));
  const Evaluation validated = *evaluate_task(*task, Split::validation, 3);
  EXPECT_EQ(validated.terms, 4u);
  EXPECT_NE(validated.words().find("% right at 500 tokens"), std::string::npos);
  EXPECT_EQ(evaluate_task(*task, Split::test, 3)->terms, 3u);
  EXPECT_EQ(evaluate_task(*task, Split::train, 64)->words().find("tokens"), std::string::npos);
}

TEST(TokenTask, ItsDataAreWhatTheConfigSays) {
  const std::string base = "data.kind=multi_query_recall", items = "data.items=2";
  const auto fingerprint = [&](const std::string& set) {
    return make_task(generated({base, items, set}))->data().fingerprint();
  };
  const std::uint64_t first = fingerprint("optim.lr=0.5");
  EXPECT_EQ(first, fingerprint("model.width=16"));
  for (const char* set : {"data.items=1", "data.length=9", "data.vocabulary=21", "train.seed=2",
                          "data.train_examples=9", "data.targets=all"})
    EXPECT_NE(fingerprint(set), first) << set;
}

/// Loss and accuracy of the validation after some training.
Evaluation trained(const Config& config, std::uint64_t steps) {
  const auto task = make_task(config);
  train(config, *task, steps);
  return *evaluate_task(*task, Split::validation, config.count("train.batch"));
}

TEST(TokenTask, CopyingIsLearned) {
  const Evaluation result =
      trained(generated({"data.kind=copy", "data.length=6", "data.vocabulary=5", "model.width=16",
                         "train.batch=32", "optim.lr=0.02", "data.validation_examples=200"}),
              400);
  EXPECT_GT(result.mean("accuracy"), 0.95);
}

TEST(ClassifierTask, LearnsTheOperationsOfShortLists) {
  const Evaluation result =
      trained(generated({"model.kind=classifier", "data.kind=listops", "data.length=5",
                         "data.depth=2", "model.width=16", "train.batch=32", "optim.lr=0.01",
                         "train.steps=400", "data.validation_examples=500"}),
              400);
  // The most frequent label alone has 20 %.
  EXPECT_GT(result.mean("accuracy"), 0.4);
}

TEST(ClassifierTask, TellsShapesInNoise) {
  const Evaluation result =
      trained(generated({"model.kind=classifier", "data.kind=shapes", "data.side=12",
                         "model.width=16", "model.mixer.convolution=4", "train.batch=32",
                         "optim.lr=0.01", "train.steps=300", "data.validation_examples=200"}),
              300);
  EXPECT_EQ(result.terms, 200u);
  EXPECT_GT(result.mean("accuracy"), 0.35);  // a guess has 25 %
}

TEST(ClassifierTask, TakesImagesOfFiles) {
  const TemporaryFolder folder;
  std::string pixels;
  for (int i = 0; i < 20 * 6; ++i) pixels += char(i);
  const std::string digits = std::string("0123456789"), labels = digits + digits;
  folder.write("a-images", idx_file({20, 2, 3}, pixels));
  std::string values;
  for (const char digit : labels) values += char(digit - '0');
  folder.write("b-labels", idx_file({20}, values));
  const std::string files = "data.files=[\"" + (folder.path() / "*").string() + "\"]";
  const std::vector<std::string> sets = {"model.kind=classifier", "data.kind=images", files,
                                         "data.validation=0.25"};
  const auto task = make_task(generated(sets));
  EXPECT_EQ(task->data().words(),
            "images, 2 x 3 grey, 10 classes  ·  15 examples to train, 5 to validate");
  EXPECT_EQ(task->data().tokens_per_example(), 6u);
  EXPECT_EQ(evaluate_task(*task, Split::validation, 2)->terms, 5u);
  const std::uint64_t before = task->data().fingerprint();
  values[3] = 7;
  folder.write("b-labels", idx_file({20}, values));
  EXPECT_NE(make_task(generated(sets))->data().fingerprint(), before);
  const TemporaryFolder more;
  more.write("images", idx_file({1, 2, 3}, "abcdef"));
  more.write("labels", idx_file({1}, "\1"));
  auto with_more = sets;
  with_more.push_back("data.validation_files=[\"" + (more.path() / "*").string() + "\"]");
  EXPECT_EQ(make_task(generated(with_more))->data().words(),
            "images, 2 x 3 grey, 10 classes  ·  20 examples to train, 1 to validate");
  folder.write("b-labels", idx_file({20}, std::string(20, '\3')));
  EXPECT_EQ(message_of<DataError>([&] { make_task(generated(sets)); }),
            "data.files: all images have the label 3; a classifier needs at least two labels");
}

}  // namespace task_test
}  // namespace bochner
