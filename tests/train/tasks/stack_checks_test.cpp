#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <train/config_text.hpp>

namespace bochner {
namespace stack_checks_test {

using testing::EndsWith;
using testing::HasSubstr;

const std::string classifier = "model.kind = \"classifier\"\ndata.kind = \"listops\"\n";
const std::string hawkes = "model.kind = \"events\"\ndata.kind = \"hawkes\"\n";

/// All ten kinds and the forms of some, with one further setting.
std::vector<std::pair<std::string, std::string>> all_mixers() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& kind : mixers().names()) all.emplace_back(kind, "train.steps=1000");
  all.emplace_back("linear", "model.mixer.update=delta");
  all.emplace_back("ssm", "model.mixer.ssm.form=s5");
  return all;
}

bool is_valid(const Config& config) {
  try {
    validate(config);
  } catch (const ConfigError&) {
    return false;
  }
  return true;
}

TEST(StackChecks, KeysThatNoMixerHas) {
  const auto error = [](const std::string& keys) {
    return error_in("data.kind = \"copy\"\n" + keys);
  };
  EXPECT_EQ(error("model.mixer.kind = \"ssm\"\nmodel.positions = \"rotary\"\n"),
            "bad.toml:3:19: model.positions = \"rotary\": needs model.mixer.kind = \"softmax\", "
            "\"linear\", \"log_linear\" or \"mlstm\"");
  EXPECT_EQ(error("model.pattern = [\"ssm\", \"hyena\"]\nmodel.positions = \"rotary\"\n"),
            "bad.toml:3:19: model.positions = \"rotary\": needs \"softmax\", \"linear\", "
            "\"log_linear\" or \"mlstm\" in model.pattern");
  EXPECT_EQ(error("model.pattern = [\"ssm\", \"hyena\"]\nmodel.mixer.window = 8\n"),
            "bad.toml:3:22: model.mixer.window has no effect with model.pattern = [\"ssm\", "
            "\"hyena\"]; remove it");
  EXPECT_EQ(error("model.pattern = [\"ssm\"]\nmodel.mixer.time_kernel = \"decay\"\n"),
            "bad.toml:3:27: model.mixer.time_kernel.kind has no effect with model.pattern = "
            "[\"ssm\"]; remove it");
  EXPECT_EQ(error("model.mixer.kind = \"hyena\"\nmodel.mixer.normalize = \"l2\"\n"),
            "bad.toml:3:25: model.mixer.normalize has no effect with model.mixer.kind = "
            "\"hyena\"; remove it");
  EXPECT_THAT(error("model.mixer.time_kernel = { kind = \"decay\", per = \"channel\" }\n"),
              EndsWith("kernel.per has no effect with model.mixer.kind = \"softmax\"; remove it"));
  for (const std::string kind : {"hgrn2", "hyena", "h3", "sgconv", "long_conv"})
    EXPECT_EQ(error("model.mixer = { kind = \"" + kind + "\", convolution = 4 }\n"),
              fmt::format("bad.toml:2:{}: model.mixer.convolution has no effect with "
                          "model.mixer.kind = \"{}\"; remove it",
                          42 + kind.size(), kind));
  for (const char* kept : {"model.pattern = [\"ssm\", \"mlstm\"]\nmodel.positions = \"rotary\"\n",
                           "model.pattern = [\"ssm\", \"hyena\"]\nmodel.mixer.convolution = 4\n",
                           "model.pattern = [\"ssm\", \"softmax\"]\nmodel.mixer.window = 8\n"})
    EXPECT_EQ(error(kept), "");
}

/// A sweep over kinds would train the same model repeatedly.
TEST(StackChecks, KindsBesideAPattern) {
  const std::string pattern = "model.pattern = [\"linear\"]\n", kind = "model.mixer.kind=ssm";
  EXPECT_EQ(error_after_files(pattern, {kind}),
            "--set: model.mixer.kind = \"ssm\": has no effect with model.pattern = [\"linear\"]");
  EXPECT_EQ(error_after_files(pattern + "model.mixer.kind = \"ssm\"\n"), "");
  EXPECT_EQ(error_after_files(pattern, {kind, "model.pattern=[]"}), "");
}

TEST(StackChecks, WhatTheMixerCannotBe) {
  EXPECT_EQ(
      error_after_files("model.mixer.directions = 2\n"),
      "bad.toml:2:26: model.mixer.directions = 2: shows tokens what follows, which model.kind "
      "= \"lm\" is to predict: choose 1");
  EXPECT_EQ(error_in(classifier + "model.mixer.directions = 2\n"), "");
  EXPECT_EQ(
      error_in(classifier + "model.mixer.directions = 1\nmodel.pooling = \"cls\"\n"),
      "bad.toml:3:26: model.mixer.directions = 1: lets a class token, which stands first, see "
      "nothing: choose model.pooling = \"mean\"");
  EXPECT_EQ(
      error_after_files("model.mixer = { kind = \"linear\", time_kernel = { per = \"channel\" "
                        "} }\n"),
      "bad.toml:2:56: model.mixer.time_kernel.per has no effect with "
      "model.mixer.time_kernel.kind = \"none\"; remove it");
  EXPECT_EQ(error_after_files("model.width = 130\nmodel.mixer.kind = \"ssm\"\n"), "");
  const std::string s5 = "model.mixer.kind = \"ssm\"\nmodel.mixer.ssm.form = \"s5\"\n";
  EXPECT_EQ(error_after_files(s5 + "model.mixer.ssm.states = 12\n"),
            "bad.toml:4:26: model.mixer.ssm.blocks = 8: must divide model.mixer.ssm.states = 12");
  EXPECT_EQ(error_after_files(s5 + "model.mixer.ssm.step_min = 1\n"),
            "bad.toml:4:28: model.mixer.ssm.step_min = 1.0: must be at most "
            "model.mixer.ssm.step_max = 0.1");
}

TEST(StackChecks, WindowsAreOfThePast) {
  const std::string window = "model.mixer.window = 8\n", linear = "model.mixer.kind = \"linear\"\n";
  const std::string kernel = "model.mixer.time_kernel = ";
  EXPECT_EQ(error_in(classifier + window),
            "bad.toml:3:22: model.mixer.window = 8: is the last tokens that are seen: needs "
            "model.mixer.directions = 1");
  EXPECT_EQ(error_in(classifier + window + "model.mixer.directions = 1\n"), "");
  EXPECT_EQ(
      error_after_files(window + linear + kernel + "\"gate\"\n"),
      "bad.toml:2:22: model.mixer.window = 8: needs model.mixer.time_kernel.kind = \"none\" or "
      "\"decay\"");
  EXPECT_EQ(
      error_after_files(window + linear + kernel + "{ kind = \"decay\", per = \"channel\" }\n"),
      "bad.toml:2:22: model.mixer.window = 8: needs model.mixer.time_kernel.per = \"head\"");
  EXPECT_EQ(error_in(hawkes + window + kernel + "\"decay\"\n"),
            "bad.toml:3:22: model.mixer.window = 8: needs model.mixer.time_kernel.kind = \"none\" "
            "where tokens have times");
  EXPECT_EQ(error_in(hawkes + window), "");
}

TEST(StackChecks, TokensWithTimesNeedMixersThatTakeThem) {
  const auto error = [](const std::string& mixer) {
    return error_in(hawkes + "model.mixer = { " + mixer + " }\n");
  };
  EXPECT_EQ(
      error("kind = \"hyena\""),
      "bad.toml:3:24: model.mixer.kind = \"hyena\": \"hyena\" needs tokens at equal distances, "
      "and those of data.kind = \"hawkes\" have times: choose \"softmax\" or \"linear\", or "
      "\"ssm\" with model.mixer.ssm.form = \"s5\"");
  EXPECT_EQ(error("kind = \"ssm\", ssm.form = \"s5\""), "");
  EXPECT_THAT(error("kind = \"ssm\""), HasSubstr("\"ssm\" needs tokens at equal distances"));
  EXPECT_THAT(error_in(hawkes + "model.pattern = [\"softmax\", \"min_gru\"]\n"),
              HasSubstr("model.pattern = [\"softmax\", \"min_gru\"]: \"min_gru\" needs tokens at"));
}

TEST(StackChecks, CosformerTellsItsPositionsApart) {
  const std::string cosformer =
      "data.kind = \"induction\"\nmodel.positions = \"none\"\ndata.length = 64\n"
      "model.mixer.kind = \"linear\"\nmodel.mixer.features.kind = \"cosformer\"\n";
  const std::string longer = "data.validation_length = 128\n";
  EXPECT_EQ(error_in(cosformer), "");
  EXPECT_EQ(error_in(cosformer + longer),
            "bad.toml:6:26: data.validation_length = 128: must be at most 64, the positions of "
            "cosformer: train a new run with a larger model.mixer.features.length");
  EXPECT_EQ(error_in(cosformer + longer + "model.mixer.features.length = 128\n"), "");
  EXPECT_EQ(error_in(cosformer + "model.mixer.features.length = 32\n"),
            "bad.toml:6:31: model.mixer.features.length = 32: must be 0, or at least data.length = "
            "64");
}

/// Layers accept every config that the checks of keys accept: stacks of one kind and of two, with a
/// further key, causal and bidirectional, of tokens with and without times.
TEST(StackChecks, LetThroughWhatLayersTake) {
  const std::string small =
      "model.width = 8\nmodel.blocks = 2\nmodel.mixer.heads = 2\nmodel.mixer.m = 4\n";
  const std::string models[] = {"data.kind = \"copy\"\n", classifier, hawkes,
                                "model.kind = \"lm\"\ndata.kind = \"hawkes\"\n"};
  const std::vector<std::vector<std::string>> keys = {
      {},
      {"model.positions=rotary"},
      {"model.mixer.normalize=l2"},
      {"model.mixer.window=3"},
      {"model.mixer.window=3", "model.mixer.time_kernel.kind=decay"},
      {"model.mixer.time_kernel.kind=gate", "model.mixer.time_kernel.per=channel"},
      {"model.mixer.time_kernel.per=channel"},
      {"model.mixer.time_kernel.kind=rotation"},
      {"model.mixer.convolution=3"},
      {"model.mixer.directions=1"},
      {"model.mixer.directions=2"},
      {"model.time.kind=free", "model.time.use=attend"}};
  std::size_t refused = 0, taken = 0;
  for (const std::string& model : models) {
    const Config plain = parse(small + model);
    for (const auto& [kind, form] : all_mixers())
      for (const std::string& stack :
           {"model.mixer.kind=" + kind, "model.pattern=[\"" + kind + "\", \"softmax\"]"})
        for (std::vector<std::string> sets : keys) {
          sets.insert(sets.end(), {stack, form});
          Config config = plain;
          for (const std::string& set : sets) apply_set(config, set);
          if (!is_valid(config)) {
            ++refused;
            continue;
          }
          EXPECT_NO_THROW(try_blocks(config)) << model << testing::PrintToString(sets);
          ++taken;
        }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(taken, 300u);
}

}  // namespace stack_checks_test
}  // namespace bochner
