#include <bochner/train/config/config.hpp>
#include <train/config_text.hpp>

namespace config_errors_test {

using namespace bochner;

using ConfigErrorFile = Folder;

TEST(ConfigErrors, UnknownKeys) {
  EXPECT_EQ(error_in("# a comment\n[optim]\nlrr = 1e-3\n"),
            "bad.toml:3:1: optim.lrr: no such key. Did you mean optim.lr?");
  EXPECT_EQ(error_in("[modle]\nwidth = 3\n"),
            "bad.toml:1:2: modle: no such key. Did you mean model?");
  EXPECT_EQ(error_in("optim.banana = 3\n"),
            "bad.toml:1:7: optim.banana: no such key. `bochner config keys` lists them");
  EXPECT_EQ(error_in("\"optim.lr\" = 3\n"),
            "bad.toml:1:1: optim.lr: no such key. Did you mean optim.lr?");
  EXPECT_EQ(error_in("\"a\\nb\" = 3\n"),
            "bad.toml:1:1: a\\u000Ab: no such key. `bochner config keys` lists them");
  EXPECT_EQ(error_in("", {"optim.lrr=3"}), "--set: optim.lrr: no such key. Did you mean optim.lr?");
  EXPECT_EQ(error_in("", {"optim.schedule={kidn=\"cosine\"}"}),
            "--set: optim.schedule.kidn: no such key. Did you mean optim.schedule.kind?");
}

TEST(ConfigErrors, EveryTextOfAListIsAChoice) {
  const std::string estimators = "model.mixer.features.estimators = ";
  EXPECT_EQ(error_after_files(estimators + "[\"positive\", \"aderf\"]\n"), "");
  const std::string error = error_after_files(estimators + "[\"positive\", \"aderff\"]\n");
  EXPECT_TRUE(error.starts_with("bad.toml:2:35: " + estimators +
                                "[\"positive\", \"aderff\"]: must each be \"positive\", "))
      << error;
  EXPECT_TRUE(error.ends_with(". Did you mean \"aderf\"?")) << error;
}

TEST(ConfigErrors, EventsAndTheirTimes) {
  const std::string events = "model.kind = \"events\"\ndata.kind = \"hawkes\"\n";
  EXPECT_EQ(error_in(events), "");
  EXPECT_EQ(error_in("data.kind = \"hawkes\"\nmodel.kind = \"field\"\n"),
            "bad.toml:2:14: model.kind = \"field\": cannot learn data.kind = \"hawkes\", which is "
            "for model.kind = \"events\" or \"lm\"");
  EXPECT_EQ(error_in("data.kind = \"event_files\"\nmodel.kind = \"forecaster\"\n"),
            "bad.toml:2:14: model.kind = \"forecaster\": cannot learn data.kind = \"event_files\", "
            "which is for model.kind = \"events\" or \"lm\" or \"classifier\"");
  EXPECT_EQ(error_in("data.kind = \"hawkes\"\nmodel.time = \"flow\"\n"), "");
  EXPECT_EQ(error_in("data.kind = \"event_files\"\ndata.files = [\"x.csv\"]\n"
                     "model.kind = \"classifier\"\n"),
            "bad.toml:1:13: data.label_column = \"\": must name the column of labels for a "
            "classifier of data.kind = \"event_files\"");
  EXPECT_EQ(error_in("data.kind = \"event_files\"\ndata.files = [\"x.csv\"]\n"
                     "data.label_column = \"ill\"\n"),
            "bad.toml:3:21: data.label_column = \"ill\": needs model.kind = \"classifier\"");
  EXPECT_EQ(
      error_in("model.kind = \"events\"\ndata.kind = \"copy\"\n"),
      "bad.toml:1:14: model.kind = \"events\": cannot learn data.kind = \"copy\", which is for "
      "model.kind = \"lm\"");
  EXPECT_EQ(error_in("data.kind = \"copy\"\nmodel.time = \"flow\"\n"),
            "bad.toml:2:14: model.time.kind = \"flow\": needs events, of data.kind = "
            "\"event_files\" or \"hawkes\", or a forecaster with model.backbone = \"rows\": other "
            "models see no times");
  EXPECT_EQ(error_in(events + "model.time = { shortest = 10, longest = 2 }\n"),
            "bad.toml:3:27: model.time.shortest = 10.0: must be at most model.time.longest = 2.0");
  EXPECT_EQ(error_in(events + "data.branching = 1.0\n"),
            "bad.toml:3:18: data.branching = 1.0: must be at least 0 and less than 1");
}

TEST(ConfigErrors, ForecastersAndSeriesBelongTogether) {
  const std::string series = "model.kind = \"forecaster\"\ndata.kind = \"series\"\n";
  EXPECT_EQ(error_after_files(series), "");
  EXPECT_EQ(error_after_files("model.kind = \"forecaster\"\n"),
            "bad.toml:2:14: model.kind = \"forecaster\": cannot learn data.kind = \"bytes\", which "
            "is for model.kind = \"lm\"");
  EXPECT_EQ(error_after_files("data.kind = \"series\"\n"),
            "bad.toml:2:13: model.kind = \"lm\": cannot learn data.kind = \"series\", which is for "
            "model.kind = \"forecaster\"");
  EXPECT_EQ(error_in(series),
            "bad.toml:2:13: data.files = []: must name the files of data.kind = \"series\"");
  EXPECT_EQ(error_after_files(series + "data.splits = [0.7, 0.3]\n"),
            "bad.toml:4:15: data.splits = [0.7, 0.3]: must be three numbers");
  EXPECT_EQ(error_after_files(series + "data.splits = [0.7, 0.3, 0.1]\n"),
            "bad.toml:4:15: data.splits = [0.7, 0.3, 0.1]: must be fractions that add up to at "
            "most 1");
  EXPECT_EQ(error_after_files(series + "data.splits = [70, 0.3, 0]\n"),
            "bad.toml:4:15: data.splits = [70.0, 0.3, 0.0]: must be rows, all whole, or fractions, "
            "all at most 1");
  EXPECT_EQ(error_after_files(series + "data.lookback = 8\nmodel.backbone = \"attention\"\n"),
            "bad.toml:4:17: model.patch.length = 16: must be at most data.lookback = 8");
  EXPECT_EQ(error_after_files(series + "data.splits = [1, 0, 0]\ntrain.stop.patience = 3\n"),
            "bad.toml:5:23: train.stop.patience = 3: needs a second number of data.splits greater "
            "than 0");
}

TEST(ConfigErrors, TheFirstMistakeOfTheTextIsReported) {
  EXPECT_EQ(error_in("[train]\nzzz = 1\n[data]\naaa = 1\n"),
            "bad.toml:2:1: train.zzz: no such key. `bochner config keys` lists them");
}

TEST(ConfigErrors, WrongTypes) {
  EXPECT_EQ(error_in("[model]\nkind = \"lm\"\nwidth = \"wide\"\n"),
            "bad.toml:3:9: model.width = \"wide\": must be a whole number");
  EXPECT_EQ(error_in("model.width = 128.0\n"),
            "bad.toml:1:15: model.width = 128.0: must be a whole number");
  EXPECT_EQ(error_in("optim.lr = true\n"), "bad.toml:1:12: optim.lr = true: must be a number");
  EXPECT_EQ(error_in("optim.nesterov = 1\n"),
            "bad.toml:1:18: optim.nesterov = 1: must be true or false");
  EXPECT_EQ(error_in("model.kind = 2024-01-01\n"),
            "bad.toml:1:14: model.kind = 2024-01-01: must be text in quotes");
  EXPECT_EQ(error_in("data.files = 3\n"), "bad.toml:1:14: data.files = 3: must be a list of texts");
  EXPECT_EQ(error_in("data.files = [\"a\", 3]\n"),
            "bad.toml:1:20: data.files[1] = 3: must be text in quotes");
  EXPECT_EQ(error_in("data.files = \"a\\u0000b\"\n"),
            "bad.toml:1:14: data.files = \"a\\u0000b\": must not hold control characters");
  EXPECT_EQ(error_in("optim.betas = 0.9\n"),
            "bad.toml:1:15: optim.betas = 0.9: must be a list of numbers");
  EXPECT_EQ(error_in("optim.betas = [0.9, \"x\"]\n"),
            "bad.toml:1:21: optim.betas[1] = \"x\": must be a number");
  EXPECT_EQ(error_in("train.steps = \"5 parsecs\"\n"),
            "bad.toml:1:15: train.steps = \"5 parsecs\": must be a period: 500 (steps), 2e "
            "(epochs), 10Mt (tokens; k, M or G), 45s, 30min or 2h");
  EXPECT_EQ(error_in("train.steps = -5\n").substr(0, 55),
            "bad.toml:1:15: train.steps = -5: must be a period: 500 ");
  EXPECT_EQ(error_in("model.width = [1, 2]\n"),
            "bad.toml:1:15: model.width = [...]: must be a whole number");
  EXPECT_EQ(error_in("model.width = { a = 1 }\n"),
            "bad.toml:1:15: model.width = {...}: must be a whole number");
  EXPECT_EQ(error_in("train = 3\n"), "bad.toml:1:1: train = 3: must be a table");
  EXPECT_EQ(error_in("[[optim.schedule]]\n"),
            "bad.toml:1:1: optim.schedule.kind = [...]: must be text in quotes");
  std::string text = "model.width = \"", expected = "bad.toml:1:15: model.width = \"";
  text.append(1000, 'w').append("\"\n");
  expected.append(80, 'w').append("\"...: must be a whole number");
  EXPECT_EQ(error_in(text), expected);
}

TEST(ConfigErrors, GroupErrors) {
  EXPECT_EQ(error_in("optim.groups = [{ match = \"*\", lr_factr = 1 }]\n"),
            "bad.toml:1:32: optim.groups[0].lr_factr: no such key. Did you mean lr_factor?");
  EXPECT_EQ(error_in("optim.groups = [{ lr_factor = 1 }]\n"),
            "bad.toml:1:17: optim.groups[0] = {...}: needs match, a pattern of parameter names "
            "such as \"*.density.*\"");
  EXPECT_EQ(error_in("optim.groups = [{ match = \"*\", lr_factor = -1 }]\n"),
            "bad.toml:1:44: optim.groups[0].lr_factor = -1: must be at least 0");
  EXPECT_EQ(error_in("optim.groups = [3]\n"),
            "bad.toml:1:17: optim.groups[0] = 3: must be a table { match, lr_factor, "
            "weight_decay }");
}

TEST(ConfigErrors, RangesAndChoices) {
  EXPECT_EQ(error_after_files("model.dropout = 1.5\n"),
            "bad.toml:2:17: model.dropout = 1.5: must be at least 0 and less than 1");
  EXPECT_EQ(error_after_files("model.blocks = 0\n"),
            "bad.toml:2:16: model.blocks = 0: must be between 1 and 10000");
  EXPECT_EQ(error_after_files("optim.betas = [0.9, 1]\n"),
            "bad.toml:2:15: optim.betas = [0.9, 1.0]: every number must be at least 0 and less "
            "than 1");
  EXPECT_EQ(error_after_files("optim.lr = nan\n"),
            "bad.toml:2:12: optim.lr = nan: must be a finite number");
  EXPECT_EQ(error_after_files("optim.lr = -inf\n"),
            "bad.toml:2:12: optim.lr = -inf: must be a finite number");
  EXPECT_EQ(error_after_files("train.steps = 0\n"),
            "bad.toml:2:15: train.steps = 0: must be greater than 0");
  EXPECT_EQ(
      error_after_files("optim.kind = \"adamv\"\n"),
      "bad.toml:2:14: optim.kind = \"adamv\": must be \"adamw\", \"adam\" or \"sgd\". Did you "
      "mean \"adamw\"?");
  EXPECT_EQ(error_after_files("", {"model.dropout=2"}),
            "--set: model.dropout = 2.0: must be at least 0 and less than 1");
}

TEST(ConfigErrors, PeriodsHaveTheUnitsOfTheirKey) {
  const std::string countable = ": must be steps, epochs or tokens such as 500, 2e or 10Mt";
  EXPECT_EQ(error_after_files("train.steps = \"30min\"\n"),
            "bad.toml:2:15: train.steps = \"30min\"" + countable);
  EXPECT_EQ(error_after_files("train.log.every = \"30s\"\n"),
            "bad.toml:2:19: train.log.every = \"30s\"" + countable);
  EXPECT_EQ(error_after_files("", {"train.validate.every=1h"}),
            "--set: train.validate.every = \"1h\"" + countable);
  EXPECT_EQ(error_after_files("train.time = 30\n"),
            "bad.toml:2:14: train.time = 30: must be wall time such as 45s, 30min or 2h");
  EXPECT_EQ(error_after_files("train.time = \"\"\ntrain.log.every = 0\n"), "");
  EXPECT_EQ(error_after_files("train.checkpoint.every = \"5min\"\n"), "");
  EXPECT_EQ(error_after_files("train.checkpoint.every = 5\n"), "");
}

TEST(ConfigErrors, KeysThatMustFitEachOther) {
  EXPECT_EQ(error_after_files("[model.mixer]\nheads = 5\n"),
            "bad.toml:3:9: model.mixer.heads = 5: must divide model.width = 128");
  EXPECT_EQ(error_after_files("model.width = 130\n"),
            "bad.toml:2:15: model.mixer.heads = 4: must divide model.width = 130");
  EXPECT_EQ(error_after_files("model = { width = 60, positions = \"rotary\" }\n"),
            "bad.toml:2:35: model.positions = \"rotary\": needs an even model.width / "
            "model.mixer.heads, not 15");
  EXPECT_EQ(error_after_files("model.mixer.time_kernel.longest = 0.5\n"),
            "bad.toml:2:35: model.mixer.time_kernel.shortest = 1.0: must be at most "
            "model.mixer.time_kernel.longest = 0.5");
  EXPECT_EQ(error_after_files("optim.betas = [0.9]\n"),
            "bad.toml:2:15: optim.betas = [0.9]: must be two numbers");
  EXPECT_EQ(error_after_files("optim.schedule.floor = 1\n"),
            "bad.toml:2:24: optim.schedule.floor = 1.0: must be at most optim.lr = 0.001");
  EXPECT_EQ(error_after_files("optim.schedule.warmup = 2000\n"),
            "bad.toml:2:25: optim.schedule.warmup = 2000: must be at most train.steps = 1000");
  EXPECT_EQ(error_after_files("optim.schedule.warmup = 2000\ntrain.steps = \"2e\"\n"), "");
  EXPECT_EQ(error_after_files("optim.schedule = { kind = \"wsd\", warmup = 600, decay = 600 }\n"),
            "bad.toml:2:56: optim.schedule.decay = 600: with optim.schedule.warmup = 600 it must "
            "be at most train.steps = 1000");
  EXPECT_EQ(error_after_files("optim.nesterov = true\noptim.momentum = 0\n"),
            "bad.toml:2:18: optim.nesterov = true: needs optim.momentum greater than 0");
  EXPECT_EQ(error_after_files("train.stop.patience = 3\ndata.validation = 0\n"),
            "bad.toml:2:23: train.stop.patience = 3: needs data.validation greater than 0");
  EXPECT_EQ(error_after_files("train.stop.patience = 3\ntrain.validate.every = 0\n"),
            "bad.toml:2:23: train.stop.patience = 3: needs train.validate.every greater than 0");
}

/// A key of one mixer is right where one of the pattern's mixers has it.
TEST(ConfigErrors, PatternsOfMixersThatThereAre) {
  const std::string gate = "model.mixer.time_kernel.kind = \"gate\"\n";
  const std::string mixed = "model.pattern = [\"linear\", \"softmax\"]\n";
  EXPECT_EQ(error_after_files(mixed + gate), "");
  EXPECT_EQ(error_after_files(mixed + "model.mixer = { warm = \"exact\", warm_steps = 3 }\n"), "");
  EXPECT_EQ(error_after_files("model.pattern = \"linear\"\n" + gate), "");
  const std::string error = error_after_files("model.pattern = [\"linear\", \"softmex\"]\n");
  EXPECT_TRUE(error.starts_with(
      "bad.toml:2:17: model.pattern = [\"linear\", \"softmex\"]: must each be \"softmax\""))
      << error;
  EXPECT_TRUE(error.ends_with(". Did you mean \"softmax\"?")) << error;
  EXPECT_EQ(error_after_files("model.pattern = [\"softmax\"]\n" + gate),
            "bad.toml:3:32: model.mixer.time_kernel.kind = \"gate\": needs \"linear\" in "
            "model.pattern; exact attention has: none, decay");
  EXPECT_EQ(error_after_files(gate),
            "bad.toml:2:32: model.mixer.time_kernel.kind = \"gate\": needs model.mixer.kind = "
            "\"linear\"; exact attention has: none, decay");
  EXPECT_EQ(error_after_files(mixed + "model.blocks = 1\n"),
            "bad.toml:2:17: model.pattern = [\"linear\", \"softmax\"]: has more mixers than "
            "model.blocks = 1");
}

TEST(ConfigErrors, KeysThatNothingWouldHeed) {
  const std::string gradients = "train.validate.gradients = 3\n";
  EXPECT_EQ(error_after_files(gradients), "");
  EXPECT_EQ(error_after_files(gradients + "train.validate.kernels = false\n"),
            "bad.toml:2:28: train.validate.gradients = 3: needs train.validate.kernels = true");
  EXPECT_EQ(error_after_files(gradients + "train.overfit = true\n"),
            "bad.toml:2:28: train.validate.gradients = 3: needs train.overfit = false: a single "
            "batch has no noise");
  EXPECT_EQ(error_after_files("model.mixer.warm_steps = 3\n"),
            "bad.toml:2:26: model.mixer.warm_steps = 3: needs model.mixer.warm other than "
            "\"none\"");
  EXPECT_EQ(error_after_files("model.mixer.delta.negative = true\n"),
            "bad.toml:2:30: model.mixer.delta.negative = true: needs model.mixer.update = "
            "\"delta\"");
  // A run that has them goes on.
  for (const char* keys : {"train.validate.gradients = 3\ntrain.overfit = true\n",
                           "train.validate.gradients = 3\ntrain.validate.kernels = false\n",
                           "model.mixer.warm_steps = 3\n"})
    EXPECT_NO_THROW(validate(stored_config(std::string("data.files = [\"a\"]\n") + keys, "run")));
}

/// What `resume RUN --set` says.
TEST(ConfigErrors, SetsThatNothingWouldHeedInARunThatGoesOn) {
  const auto error_of = [](const std::string& keys, const std::string& set) -> std::string {
    Config config = stored_config("data.files = [\"a\"]\n" + keys, "run");
    try {
      apply_set(config, set);
      validate(config);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  const std::string gradients = "train.validate.gradients = 3\n";
  EXPECT_EQ(error_of("", "train.validate.gradients=3"), "");
  EXPECT_EQ(error_of("train.validate.kernels = false\n", "train.validate.gradients=3"),
            "--set: train.validate.gradients = 3: needs train.validate.kernels = true");
  EXPECT_EQ(error_of(gradients, "train.validate.kernels=false"),
            "run:2:28: train.validate.gradients = 3: needs train.validate.kernels = true");
  EXPECT_EQ(error_of("", "data.asked=0.5"),
            "--set: data.asked = 0.5: needs data.kind = \"sensors\"");
  // Others may be changed all the same.
  EXPECT_EQ(error_of(gradients + "train.validate.kernels = false\n", "train.steps=7"), "");
}

TEST(ConfigErrors, TheDeltaRuleIsForLinearAttentionAlone) {
  const std::string delta = "model.mixer.update = \"delta\"\n";
  EXPECT_EQ(error_after_files(delta),
            "bad.toml:2:22: model.mixer.update = \"delta\": needs model.mixer.kind = \"linear\"");
  const std::string linear = delta + "model.mixer.kind = \"linear\"\n";
  EXPECT_EQ(error_after_files(linear), "");
  EXPECT_EQ(error_after_files(linear + "model.mixer.window = 8\n"),
            "bad.toml:2:22: model.mixer.update = \"delta\": needs model.mixer.window = 0");
  EXPECT_EQ(
      error_after_files(linear + "model.mixer.warm = \"exact\"\nmodel.mixer.warm_steps = 9\n"),
      "bad.toml:2:22: model.mixer.update = \"delta\": needs model.mixer.warm = \"none\"");
}

TEST(ConfigErrors, ModelsLearnTheDataThatAreMadeForThem) {
  EXPECT_EQ(error_in("data.kind = \"listops\"\n"),
            "bad.toml:1:13: model.kind = \"lm\": cannot learn data.kind = \"listops\", which is "
            "for model.kind = \"classifier\"");
  EXPECT_EQ(
      error_in("data.kind = \"recall\"\nmodel.kind = \"classifier\"\n"),
      "bad.toml:2:14: model.kind = \"classifier\": cannot learn data.kind = \"recall\", which is "
      "for model.kind = \"lm\"");
}

TEST(ConfigErrors, GeneratedTasksFitIntoTheirSequences) {
  const std::string recall = "data.kind = \"multi_query_recall\"\ndata.items = 64\n";
  const std::string demanded = " for data.kind = \"multi_query_recall\" and data.items = 64";
  EXPECT_EQ(error_in(recall + "data.vocabulary = 128\ndata.length = 254\n"),
            "bad.toml:4:15: data.length = 254: must be at least 255" + demanded);
  EXPECT_EQ(error_in(recall + "data.vocabulary = 128\ndata.length = 255\n"), "");
  EXPECT_EQ(error_in(recall),
            "bad.toml:1:13: data.vocabulary = 20: must be at least 128" + demanded);
  EXPECT_EQ(
      error_in("data.kind = \"recall\"\ntrain.stop.patience = 3\n"
               "data.validation_examples = 0\n"),
      "bad.toml:2:23: train.stop.patience = 3: needs data.validation_examples greater than 0");
}

TEST(ConfigErrors, ValidationGoesAsFarAsPositions) {
  const std::string longer = "data.kind = \"induction\"\ndata.validation_length = 500\n";
  EXPECT_EQ(error_in(longer),
            "bad.toml:2:26: data.validation_length = 500: must be at most data.length = 256");
  EXPECT_EQ(error_in(longer + "model.positions = \"none\"\n"), "");
  EXPECT_EQ(error_in("data.kind = \"induction\"\ndata.validation_length = 2\n"),
            "bad.toml:2:26: data.validation_length = 2: must be at least 3 for data.kind = "
            "\"induction\" and data.items = 16");
}

TEST(ConfigErrors, BatchNormIsForModelsThatPredictOnce) {
  const std::string norm = "model.norm = \"batch\"\ndata.kind = ";
  EXPECT_EQ(error_in(norm + "\"recall\"\n"),
            "bad.toml:1:14: model.norm = \"batch\": shows tokens those that they are to predict in "
            "training: choose layer or rms for model.kind = \"lm\"");
  EXPECT_EQ(error_in(norm + "\"listops\"\nmodel.kind = \"classifier\"\n"), "");
}

TEST(ConfigErrors, BucketsAreOfClassifiers) {
  EXPECT_EQ(error_in("data.kind = \"recall\"\ndata.buckets = 4\n"),
            "bad.toml:2:16: data.buckets = 4: needs model.kind = \"classifier\"");
}

TEST(ConfigErrors, ListOpsExpressionsHaveAPossibleSize) {
  const std::string listops = "model.kind = \"classifier\"\ndata.kind = \"listops\"\n";
  EXPECT_EQ(error_in(listops + "data.shortest = 257\n"),
            "bad.toml:3:17: data.shortest = 257: must be at most data.length = 256");
  EXPECT_EQ(
      error_in(listops + "data.shortest = 18\ndata.depth = 3\ndata.arguments = 3\n"),
      "bad.toml:3:17: data.shortest = 18: must be at most 17: data.depth = 3 and data.arguments "
      "= 3 allow no larger expression");
  EXPECT_EQ(error_in(listops), "");
}

TEST(ConfigErrors, FilesAreRequired) {
  EXPECT_EQ(error_in(""),
            "bad.toml: data.files = []: must name the files of data.kind = \"bytes\"");
  EXPECT_EQ(error_in("model.kind = \"classifier\"\ndata.kind = \"images\"\n"),
            "bad.toml:2:13: data.files = []: must name the files of data.kind = \"images\"");
  EXPECT_EQ(error_in("model.kind = \"classifier\"\ndata.kind = \"shapes\"\n"), "");
  EXPECT_EQ(error_in("data.files = []\n"),
            "bad.toml:1:14: data.files = []: must name the files of data.kind = \"bytes\"");
  EXPECT_EQ(error_in("data.files = [\"\"]\n"),
            "bad.toml:1:14: data.files = [\"\"]: must not hold an empty text");
}

TEST(ConfigErrors, SyntaxErrorsHaveAPlace) {
  EXPECT_EQ(error_in("[model]\nwidth = \n").substr(0, 13), "bad.toml:2:9:");
  EXPECT_EQ(error_in("[model]\nwidth = 1\nwidth = 2\n").substr(0, 11), "bad.toml:3:");
  EXPECT_NE(error_in("[model]\nwidth = 1\nwidth = 2\n").find("redefine"), std::string::npos);
  EXPECT_EQ(error_in("[=]\n").substr(0, 13), "bad.toml:1:2:");
  EXPECT_EQ(error_in("a = \"\xff\"\n").substr(0, 11), "bad.toml:1:");
}

TEST(ConfigErrors, DeepTextsAreRefused) {
  std::string dotted = "a";
  for (int i = 0; i < 100000; ++i) dotted += ".a";
  const std::string deep = ": a key of more than 32 parts: no key is that deep";
  EXPECT_EQ(error_in("\n" + dotted + " = 1"), "bad.toml:2:66" + deep);
  EXPECT_EQ(error_in("[" + dotted + "]"), "bad.toml:1:67" + deep);
  EXPECT_EQ(error_in("x = [{" + dotted + " = 1}]"), "bad.toml:1:72" + deep);
  EXPECT_EQ(error_in("'''\n'''" + dotted + " = 1"), "bad.toml:2:69" + deep);
  EXPECT_EQ(error_in("", {"optim.schedule={" + dotted + "=1}"}), "--set" + deep);
  EXPECT_NE(error_in("a = " + repeated(100000, '[')).find("nested value depth of 32"),
            std::string::npos);
  // Dots in texts and comments are no keys.
  EXPECT_EQ(error_in("# " + dotted + "\ndata.files = ['" + dotted + "', \"\\\"" + dotted + "\"]"),
            "");
}

TEST_F(ConfigErrorFile, MissingLargeOrNoFile) {
  const auto error = [](const std::string& file) {
    try {
      load_config(file, registered_parameters());
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error("nowhere.toml"), "nowhere.toml: no such file");
  EXPECT_EQ(error(path_.string()), path_.string() + ": is a folder; name a TOML file");
  const std::string large = write("large.toml", std::string((1 << 20) + 1, '#'));
  EXPECT_EQ(error(large), large + ": larger than 1 MiB: a config is a short text");
  EXPECT_EQ(error("/dev/zero"), "/dev/zero: larger than 1 MiB: a config is a short text");
  EXPECT_EQ(error(write("fits.toml", std::string(1 << 20, '#'))), "");
}

}  // namespace config_errors_test
