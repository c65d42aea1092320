#include <gmock/gmock.h>

#include <bochner/train/config/config.hpp>
#include <random>
#include <train/config_text.hpp>

namespace config_test {

using namespace bochner;
using namespace std::string_view_literals;

using ConfigFile = Folder;

TEST(Config, SampleLoadsWithTheKindsItNames) {
  const Config config = parse_config(sample, "sample.toml", registered_parameters());
  validate(config);
  EXPECT_EQ(config.text("model.mixer.features.kind"), "wpff");
  EXPECT_EQ(config.text("model.mixer.density.kind"), "flow");
  EXPECT_EQ(config.text("model.mixer.draws"), "sobol");
  EXPECT_EQ(config.integer("model.width"), 128);
  EXPECT_EQ(config.number("optim.lr"), 1e-3);
  EXPECT_EQ(config.text("optim.schedule.kind"), "cosine");
  EXPECT_EQ(config.integer("optim.schedule.warmup"), 100);
  EXPECT_EQ(config.number("optim.schedule.floor"), 1e-4);
  EXPECT_EQ(config.value("optim.groups"),
            ConfigValue(std::vector<ParameterGroup>{{"*.density.*", 0.3, {}}}));
  EXPECT_EQ(parse("optim.groups = [{match = 'a', lr_factor = 2}, {match = 'b', weight_decay = 1}]")
                .value("optim.groups"),
            ConfigValue(std::vector<ParameterGroup>{{"a", 2, {}}, {"b", {}, 1}}));
  EXPECT_EQ(config.period("train.steps"), (Period{1000, Period::Unit::steps}));
  EXPECT_EQ(config.period("train.validate.every"), (Period{250, Period::Unit::steps}));
  EXPECT_EQ(config.period("train.checkpoint.every"), (Period{300, Period::Unit::seconds}));
  EXPECT_EQ(config.text_list("data.files"), std::vector{here("texts/*.txt")});
  EXPECT_FALSE(config.flag("optim.nesterov"));
  EXPECT_EQ(config.number_list("optim.betas"), (std::vector{0.9, 0.95}));
  EXPECT_EQ(config.location("model.width"), "sample.toml:4:9");
  EXPECT_EQ(config.location("model.mixer.chunk"), "");
}

TEST(Config, SampleNamesTheKindsThatAreMissing) {
  using Names = std::vector<std::string>;
  const ParameterTable few =
      parameters_with({{"model.mixer.features.kind", [] { return Names{"positive"}; }},
                       {"model.mixer.density.kind", [] { return Names{"gaussian"}; }},
                       {"model.mixer.draws", [] {
                          return Names{"iid", "orthogonal"};
                        }}});
  const auto error = [&](const std::vector<std::string>& sets) {
    return error_in(sample, sets, few);
  };
  const std::string own = ". One of your own is known to the program that registers it";
  EXPECT_EQ(error({}),
            "bad.toml:9:12: model.mixer.features.kind = \"wpff\": must be \"positive\"" + own);
  EXPECT_EQ(error({"model.mixer.features=positive"}),
            "bad.toml:11:11: model.mixer.density.kind = \"flow\": must be \"gaussian\"" + own);
  EXPECT_EQ(error({"model.mixer.features=positive", "model.mixer.density=gaussian"}),
            "bad.toml:12:9: model.mixer.draws = \"sobol\": must be \"iid\" or \"orthogonal\"");
  EXPECT_EQ(error({"model.mixer.features=positive", "model.mixer.density=gaussian",
                   "model.mixer.draws=iid"}),
            "");
}

TEST(Config, KindsRegisteredLaterAreKnown) {
  std::vector<std::string> known = {"positive"};
  const Config config = parse_config(
      "data.files = \"a\"\nmodel.mixer = { kind = \"linear\", features = \"warm\" }", "c.toml",
      parameters_with({{"model.mixer.features.kind", [&] { return known; }}}));
  EXPECT_THROW(validate(config), ConfigError);
  known.push_back("warm");
  EXPECT_NO_THROW(validate(config));
}

TEST_F(ConfigFile, PrintedConfigReadsBackEqual) {
  const std::string text =
      "data.files = [\"a b/*.txt\", 'quo\"te\\\\.txt', \"\\u00fc.txt\"]\n"
      "optim.lr = 0.1\noptim.epsilon = 1e-300\noptim.density_lr_factor = 0.30000000000000004\n"
      "model.mixer.normalize = \"l2\"\n"
      "train.time = \"1.5h\"\ntrain.steps = \"2.5e\"\ntrain.checkpoint.every = 0\n"
      "optim.groups = [{match = \"*\"}, {match = \"a.*\", lr_factor = 2, weight_decay = 0}]\n"
      "train.seed = 9223372036854775807\n";
  const Config config = parse(text);
  validate(config);
  const std::string printed = print_config(config);
  const Config again = load_config(write("resolved.toml", printed), registered_parameters());
  validate(again);
  EXPECT_TRUE(again == config);
  EXPECT_EQ(print_config(again), printed);
  EXPECT_EQ(print_config(parse(text)), printed);
}

TEST(Config, PrintedDefaults) {
  const std::string printed = print_config(Config(registered_parameters()));
  EXPECT_TRUE(printed.starts_with(
      "[model]\nkind = \"lm\"\nblocks = 4\nrepeat = 1\ninput_residual = false\n"
      "value_residual = false\npattern = []\nwidth = 128\n"
      "expansion = 4\nmlp = \"gelu\"\ndropout = 0.0\nstochastic_depth = 0.0\nzero_init = false\n"
      "norm = \"layer\"\npositions = \"learned\"\n"));
  EXPECT_NE(printed.find("\n\n[model.mixer]\nkind = \"softmax\"\nheads ="), std::string::npos);
  EXPECT_EQ(printed.find("[model.mixer.density]"), std::string::npos);
  const std::string all = print_config(Config(registered_parameters()), Printed::all);
  EXPECT_NE(all.find("[model.mixer.density]\nkind = \"gaussian\"\nlog_scale = -1.0\n"),
            std::string::npos);
  EXPECT_NE(printed.find("[train.checkpoint]\nevery = \"5min\"\n"), std::string::npos);
  EXPECT_TRUE(parse(printed) == Config(registered_parameters()));
}

TEST(Config, NameOrTable) {
  const Config name = parse("model.mixer.density = \"gaussian\"\noptim.schedule = \"linear\"\n");
  EXPECT_EQ(name.text("model.mixer.density.kind"), "gaussian");
  EXPECT_EQ(name.text("optim.schedule.kind"), "linear");
  const Config table = parse(
      "model.mixer.density = { kind = \"gaussian\", log_scale = -2 }\n"
      "model.mixer.time_kernel.kind = \"decay\"\n");
  EXPECT_EQ(table.text("model.mixer.density.kind"), "gaussian");
  EXPECT_EQ(table.number("model.mixer.density.log_scale"), -2.0);
  EXPECT_EQ(table.text("model.mixer.time_kernel.kind"), "decay");
}

TEST(Config, SetsEveryType) {
  Config config(registered_parameters());
  const auto set = [&](const char* assignment) { apply_set(config, assignment); };
  set("model.width=256");
  EXPECT_EQ(config.integer("model.width"), 256);
  EXPECT_EQ(config.location("model.width"), "--set");
  set("optim.lr=3e-4");
  EXPECT_EQ(config.number("optim.lr"), 3e-4);
  set("optim.lr=1");
  EXPECT_EQ(config.number("optim.lr"), 1.0);
  set("optim.kind=sgd");
  EXPECT_EQ(config.text("optim.kind"), "sgd");
  set("optim.kind=\"adam\"");
  EXPECT_EQ(config.text("optim.kind"), "adam");
  set("optim.kind=1");
  EXPECT_EQ(config.text("optim.kind"), "1");
  set("optim.nesterov=true");
  EXPECT_TRUE(config.flag("optim.nesterov"));
  set("data.files=a=b.txt");
  EXPECT_EQ(config.text_list("data.files"), std::vector{here("a=b.txt")});
  set("data.files=1");
  EXPECT_EQ(config.text_list("data.files"), std::vector{here("1")});
  set("data.files=[\"/a\", \"b\"]");
  EXPECT_EQ(config.text_list("data.files"), (std::vector<std::string>{"/a", here("b")}));
  set("optim.betas=[0.8, 0.9]");
  EXPECT_EQ(config.number_list("optim.betas"), (std::vector{0.8, 0.9}));
  set("train.steps=500");
  EXPECT_EQ(config.period("train.steps"), (Period{500, Period::Unit::steps}));
  set("train.steps=10Mt");
  EXPECT_EQ(config.period("train.steps"), (Period{10e6, Period::Unit::tokens}));
  set("train.steps=\"2e\"");
  EXPECT_EQ(config.period("train.steps"), (Period{2, Period::Unit::epochs}));
  set("train.time=0");
  EXPECT_TRUE(config.period("train.time").off());
  set("optim.groups=[{match=\"*.bias\", weight_decay=0}]");
  EXPECT_EQ(config.value("optim.groups"),
            ConfigValue(std::vector<ParameterGroup>{{"*.bias", {}, 0.0}}));
  set("optim.schedule=cosine");
  set("optim.schedule={warmup=7}");
  EXPECT_EQ(config.text("optim.schedule.kind"), "cosine");
  EXPECT_EQ(config.integer("optim.schedule.warmup"), 7);
}

TEST(Config, ReadsAWholeNumberHoweverItIsWritten) {
  for (const char* written : {"20", "20.0", "2e1"}) {
    SCOPED_TRACE(written);
    const std::string number = written;
    Config config =
        parse("data.files = \"a\"\ntrain.batch = " + number + "\ntrain.steps = " + number + "\n");
    EXPECT_EQ(config.integer("train.batch"), 20);
    EXPECT_EQ(config.period("train.steps"), Period{20});
    apply_set(config, "train.batch=" + number);
    apply_set(config, "train.steps=" + number);
    EXPECT_EQ(config.integer("train.batch"), 20);
    EXPECT_EQ(config.period("train.steps"), Period{20});
  }
  EXPECT_EQ(error_in("", {"train.batch=20.5"}),
            "--set: train.batch = 20.5: must be a whole number");
  EXPECT_EQ(error_in("", {"train.batch=1e300"}),
            "--set: train.batch = 1e+300: must be a whole number");
}

TEST(Config, SetErrors) {
  EXPECT_EQ(error_in("", {"optim.lr"}), "--set optim.lr: write KEY=VALUE");
  EXPECT_EQ(error_in("", {"model.width=wide"}),
            "--set: model.width = \"wide\": must be a whole number");
  EXPECT_EQ(error_in("", {"model.width=1\nx = 2"}),
            "--set: model.width = \"1\\u000Ax = 2\": must be a whole number");
  EXPECT_EQ(error_in("", {"train.steps=1.5"}).substr(0, 47),
            "--set: train.steps = 1.5: must be a period: 500");
  EXPECT_EQ(error_in("", {"data.files=\xff"}), "--set: the value is not UTF-8 text");
  EXPECT_EQ(error_in("", {"data.files=a\nb"}),
            "--set: data.files = \"a\\u000Ab\": must not hold control characters");
  EXPECT_EQ(error_in("", {"=3"}), "--set: : no such key. `bochner config keys` lists them");
}

TEST(Config, ChangesAndWhatResumeMayChange) {
  const Config before = parse("data.files = \"a\"\n");
  Config after = before;
  apply_set(after, "train.steps=2000");
  apply_set(after, "train.validate.batches=5");
  const std::vector<ConfigChange> found = changes(before, after);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "train.steps");
  EXPECT_EQ(format_value(found[0].before), "1000");
  EXPECT_EQ(format_value(found[0].after), "2000");
  EXPECT_EQ(found[1].name, "train.validate.batches");
  EXPECT_NO_THROW(require_resumable(before, after, "runs/demo"));
  apply_set(after, "model.width=256");
  try {
    require_resumable(before, after, "runs/demo");
    ADD_FAILURE() << "the width changed";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "runs/demo: model.width is fixed at 128 by its checkpoints; a new run can start "
                 "from them: bochner fork runs/demo ...");
  }
}

TEST(Config, KnowsWhatIsNotTheDefault) {
  Config config(registered_parameters());
  EXPECT_THAT(config.changed(), testing::IsEmpty());
  apply_set(config, "train.batch=7");
  config.set("optim.lr", config.value("optim.lr"), "--set");
  config.set("model.kind", std::string("vae"), "--set");
  EXPECT_THAT(config.changed(), testing::ElementsAre("model.kind", "train.batch"));
}

TEST(Config, MistakesInCodeThrow) {
  Config config(registered_parameters());
  EXPECT_THROW(config.integer("model.wdith"), std::logic_error);
  EXPECT_THROW(config.integer("optim.lr"), std::logic_error);
  EXPECT_THROW(config.set("optim.lr", std::int64_t{1}, ""), std::logic_error);
}

/// Random edits: bytes changed, deleted, doubled, spans moved. Fixed seed; only the raw generator
/// is used, whose numbers the standard fixes.
std::string mutated(std::string text, std::mt19937& random) {
  constexpr std::string_view bytes =
      "\0\n\r\t \"'#.,=[]{}\\_-+0123456789eExXabinftrue\x7f\x80\xc3\xff"sv;
  const auto below = [&](std::size_t limit) { return random() % std::max<std::size_t>(limit, 1); };
  for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        if (at < text.size()) text[at] = bytes[below(bytes.size())];
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, 1 + below(60), bytes[below(bytes.size())]);
        break;
      default:
        text.insert(below(text.size()), text.substr(at, 1 + below(40)));
    }
  }
  return text;
}

TEST(Config, RandomEditsOnlyEverGiveOneLineErrors) {
  const ParameterTable parameters = registered_parameters();
  std::mt19937 random(1);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = mutated(sample, random);
    try {
      const Config config = parse_config(text, "fuzz.toml", parameters);
      ++accepted;
      // What is accepted must survive its own printed form.
      ASSERT_TRUE(parse_config(print_config(config), "printed.toml", parameters) == config) << text;
      validate(config);
    } catch (const ConfigError& error) {
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << text;
    }
  }
  EXPECT_GT(accepted, 200);
  EXPECT_LT(accepted, 19000);
}

TEST(Config, RandomSettingsOnlyEverGiveOneLineErrors) {
  std::mt19937 random(2);
  const std::string settings[] = {"optim.lr=1e-3", "train.steps=10Mt", "data.files=[\"a\", 'b']",
                                  "optim.groups=[{match=\"*\", lr_factor=0.3}]",
                                  "optim.schedule={kind=\"cosine\", warmup=10}"};
  const ParameterTable parameters = registered_parameters();
  for (int i = 0; i < 5000; ++i) {
    Config config(parameters);
    const std::string setting = mutated(settings[i % 5], random);
    try {
      apply_set(config, setting);
      ASSERT_TRUE(parse(print_config(config), parameters) == config) << setting;
    } catch (const ConfigError& error) {
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << setting;
    }
  }
}

}  // namespace config_test
