#include <gmock/gmock.h>

#include <bochner/train/config/config.hpp>
#include <train/config_text.hpp>

namespace config_checks_test {

using namespace bochner;
using testing::HasSubstr;

TEST(ConfigErrors, KeysThatMustFitEachOther) {
  EXPECT_EQ(error_after_files("[model.mixer]\nheads = 5\n"),
            "bad.toml:3:9: model.mixer.heads = 5: must divide model.width = 128");
  EXPECT_EQ(error_after_files("model.width = 130\n"),
            "bad.toml:2:15: model.mixer.heads = 4: must divide model.width = 130");
  EXPECT_EQ(error_after_files("model.width = 130\nmodel.mixer.kind = \"ssm\"\n"), "");
  EXPECT_EQ(error_after_files("model.width = 130\nmodel.pattern = [\"ssm\", \"hgrn2\"]\n"),
            "bad.toml:2:15: model.mixer.heads = 4: must divide model.width = 130");
  const std::string h3 = "model.mixer.h3.channels = 3\n";
  EXPECT_EQ(error_after_files(h3 + "model.mixer.kind = \"h3\"\n"),
            "bad.toml:2:27: model.mixer.h3.channels = 3: must divide model.width = 128");
  EXPECT_EQ(error_after_files(h3 + "model.width = 96\nmodel.mixer.kind = \"h3\"\n"), "");
  EXPECT_EQ(error_after_files("model = { width = 60, positions = \"rotary\" }\n"),
            "bad.toml:2:35: model.positions = \"rotary\": needs an even model.width / "
            "model.mixer.heads, not 15");
  EXPECT_EQ(error_after_files("model.mixer.time_kernel.longest = 0.5\n"),
            "bad.toml:2:35: model.mixer.time_kernel.shortest = 1.0: must be at most "
            "model.mixer.time_kernel.longest = 0.5");
  EXPECT_EQ(error_after_files("optim.betas = [0.9]\n"),
            "bad.toml:2:15: optim.betas = [0.9]: must be two numbers");
  EXPECT_EQ(
      error_after_files("optim.kind = \"muon\"\ntrain.partition = true\n"),
      "bad.toml:3:19: train.partition = true: must be false with optim.kind = \"muon\", which "
      "updates whole tensors");
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
            "bad.toml:3:32: model.mixer.time_kernel.kind = \"gate\": needs \"linear\" or "
            "\"log_linear\" in "
            "model.pattern");
  EXPECT_EQ(error_after_files(gate),
            "bad.toml:2:32: model.mixer.time_kernel.kind = \"gate\": needs model.mixer.kind = "
            "\"linear\" or \"log_linear\"");
  EXPECT_EQ(error_after_files(mixed + "model.blocks = 1\n"),
            "bad.toml:2:17: model.pattern = [\"linear\", \"softmax\"]: has more mixers than "
            "model.blocks = 1");
}

/// Of a kind, a form or a filter that is not chosen; a run that has them goes on.
TEST(ConfigErrors, KeysOfOtherMixers) {
  const auto of = [](const std::string& chosen, const std::string& key) {
    return error_after_files("[model.mixer]\n" + chosen + "\n" + key + "\n");
  };
  EXPECT_EQ(
      of("kind = \"softmax\"", "m = 32"),
      "bad.toml:4:5: model.mixer.m has no effect with model.mixer.kind = \"softmax\"; remove it");
  EXPECT_EQ(of("kind = \"softmax\"", "density.log_scale = 0"),
            "bad.toml:4:21: model.mixer.density.log_scale has no effect with model.mixer.kind = "
            "\"softmax\"; remove it");
  EXPECT_EQ(error_after_files("model.pattern = [\"softmax\", \"linear\"]\nmodel.mixer.m = 32\n"),
            "");
  EXPECT_EQ(of("kind = \"linear\"", "ssm.form = \"s5\""),
            "bad.toml:4:12: model.mixer.ssm.form has no effect with model.mixer.kind = \"linear\"; "
            "remove it");
  EXPECT_EQ(error_after_files("model.pattern = [\"ssm\", \"softmax\"]\n"
                              "model.mixer.min_gru.expansion = 2\n"),
            "bad.toml:3:33: model.mixer.min_gru.expansion has no effect with model.pattern = "
            "[\"ssm\", \"softmax\"]; remove it");
  const std::string s5 = "kind = \"ssm\"\nssm.form = \"s5\"";
  EXPECT_EQ(of(s5, "ssm.blocks = 2"), "");
  EXPECT_EQ(of(s5, "ssm.step_min = 0.01"), "");
  EXPECT_EQ(of(s5, "ssm.start = \"lin\""),
            "bad.toml:5:13: model.mixer.ssm.start has no effect with model.mixer.ssm.form = "
            "\"s5\"; remove it");
  EXPECT_EQ(of(s5, "ssm.phase = 0.1"),
            "bad.toml:5:13: model.mixer.ssm.phase has no effect with model.mixer.ssm.form = "
            "\"s5\"; remove it");
  const std::string h3 = "kind = \"h3\"";
  EXPECT_EQ(of("kind = \"hyena\"", "filter.hidden = 8"), "");
  EXPECT_EQ(of(h3, "filter.states = 8"), "");
  EXPECT_EQ(of(h3, "filter.hidden = 8"),
            "bad.toml:4:17: model.mixer.filter.hidden has no effect with model.mixer.filter.kind = "
            "\"auto\" and model.mixer.kind = \"h3\"; remove it");
  EXPECT_EQ(of(h3 + "\nfilter.kind = \"implicit\"", "filter.hidden = 8"), "");
  const std::string sgconv = "kind = \"sgconv\"";
  EXPECT_EQ(of(sgconv, "filter.length = 8"), "");
  EXPECT_EQ(of(sgconv, "filter.kind = \"spectral\""),
            "bad.toml:4:15: model.mixer.filter.kind has no effect with model.mixer.kind = "
            "\"sgconv\"; remove it");
  const std::string run = "data.files = [\"a\"]\nmodel.mixer.ssm.phase = 1\n";
  EXPECT_NO_THROW(validate(stored_config(run, "run")));
}

/// Of a map, a time kernel or a policy that is not chosen.
TEST(ConfigErrors, KeysOfOtherMapsAndKernels) {
  const auto of = [](const std::string& chosen, const std::string& key) {
    return error_after_files("[model.mixer]\nkind = \"linear\"" + chosen + "\n" + key + "\n");
  };
  EXPECT_EQ(of("", "time_kernel.harmonics = 2"),
            "bad.toml:4:25: model.mixer.time_kernel.harmonics has no effect with "
            "model.mixer.time_kernel.kind = \"none\"; remove it");
  EXPECT_EQ(of("", "features.rolls = 3"),
            "bad.toml:4:18: model.mixer.features.rolls has no effect with "
            "model.mixer.features.kind = \"positive\"; remove it");
  EXPECT_EQ(of("", "features.length = 512"),
            "bad.toml:4:19: model.mixer.features.length has no effect with "
            "model.mixer.features.kind = \"positive\"; remove it");
  EXPECT_EQ(of("\nfeatures.kind = \"hybrid\"\nfeatures.estimators = [\"cosformer\", \"elu\"]",
               "features.length = 512"),
            "");
  EXPECT_EQ(of("", "denominator.constant = 2"),
            "bad.toml:4:24: model.mixer.denominator.constant has no effect with "
            "model.mixer.denominator.kind = \"clip\"; remove it");
  EXPECT_NO_THROW(validate(stored_config(
      "data.files = [\"a\"]\nmodel.mixer = { kind = \"linear\", features.tau = 2 }\n", "run")));
}

TEST(ConfigErrors, KeysOfFrequenciesThatAreNotDrawn) {
  const auto of = [](const std::string& features, const std::string& key) {
    return error_after_files("[model.mixer]\nkind = \"linear\"\nfeatures.kind = \"" + features +
                             "\"\n" + key + "\n");
  };
  for (const char* key :
       {"draws = \"iid\"", "redraw = 5", "density.log_scale = 0.5", "density.posterior = \"full\"",
        "features.projection = \"sorf\"", "features.box = 3", "features.hidden = 8",
        "features.lambda = 2", "features.gates = 3", "features.smooth = true", "features.bases = 3",
        "features.correlation = 0.5", "features.estimators = [\"elu\"]", "sharpness = 4"})
    EXPECT_THAT(of("relu", key), HasSubstr(" has no effect with model.mixer.")) << key;
  EXPECT_EQ(of("relu", "m = 8"), "");  // maps are compared at the same m
  EXPECT_EQ(of("relu", "features.weights = \"learned\"\nfeatures.hidden = 8"), "");
  EXPECT_EQ(of("wpff", "features.hidden = 8"), "");
  EXPECT_EQ(of("wpff_fixed", "features.refit = 8"), "");
  EXPECT_EQ(of("hybrid", "density.kind = \"flow\"\ndensity.knots = 4"), "");
  EXPECT_EQ(of("positive", "density.degrees = 5"),
            "bad.toml:5:19: model.mixer.density.degrees has no effect with "
            "model.mixer.density.kind = \"gaussian\"; remove it");
  EXPECT_EQ(of("positive",
               "features.weights = \"importance\"\ndensity.proposal = \"student_t\"\n"
               "density.degrees = 5"),
            "");
}

TEST(ConfigErrors, KeysOfBlocksWhereThereAreNone) {
  const std::string process = "model.kind = \"gp\"\ndata.kind = \"table\"\ntrain.batch = 1\n";
  EXPECT_EQ(error_after_files(process + "model.mixer.m = 8\n"),
            "bad.toml:5:17: model.mixer.m has no effect with model.kind = \"gp\"; remove it");
  const std::string series = "model.kind = \"forecaster\"\ndata.kind = \"series\"\n";
  EXPECT_EQ(error_after_files(series + "model.width = 8\n"),
            "bad.toml:4:15: model.width has no effect with model.backbone = \"linear\" and "
            "model.kind = \"forecaster\"; remove it");
  EXPECT_EQ(error_after_files(series + "model.backbone = \"rows\"\nmodel.moving_average = 5\n"),
            "bad.toml:5:24: model.moving_average has no effect with model.backbone = \"rows\"; "
            "remove it");
}

TEST(ConfigErrors, KeysOfTimesThatAreNotSeen) {
  EXPECT_EQ(error_after_files("model.time.use = \"rotate\"\n"),
            "bad.toml:2:18: model.time.use has no effect with model.kind = \"lm\" and data.kind = "
            "\"bytes\"; remove it");
  const std::string events =
      "model.kind = \"events\"\ndata.kind = \"hawkes\"\nmodel.time.kind = \"free\"\n";
  EXPECT_EQ(
      error_in(events + "model.time.degree = 2\n"),
      "bad.toml:4:21: model.time.degree has no effect with model.time.kind = \"free\"; remove it");
  EXPECT_NO_THROW(
      read_config_text(events + "model.time.use = \"add\"\n", "file", {"model.time=none"}));
}

TEST(ConfigErrors, PositionsOfTokensThatHaveNoOrder) {
  const std::string field = "model.kind = \"field\"\ndata.kind = \"moving_pattern\"\n",
                    rotary = field + "model.positions = \"rotary\"\n";
  EXPECT_EQ(error_in(rotary),
            "bad.toml:3:19: model.positions has no effect with model.kind = \"field\"; remove it");
  EXPECT_EQ(error_in(field + "model.positions = \"none\"\n"), "");
  EXPECT_NO_THROW(validate(stored_config(rotary, "run")));
}

TEST(ConfigErrors, MixersThatGiveAnOrderToTokensThatHaveNone) {
  const auto of = [](const std::string& keys) {
    return error_in("model.kind = \"field\"\ndata.kind = \"moving_pattern\"\n" + keys);
  };
  const std::string none = ": tokens of a field have no order";
  EXPECT_EQ(of("model.mixer.kind = \"linear\"\n"), "");
  EXPECT_EQ(of("model.mixer.kind = \"ssm\"\n"),
            "bad.toml:3:20: model.mixer.kind = \"ssm\": must be \"softmax\" or \"linear\", not "
            "\"ssm\"" +
                none);
  EXPECT_EQ(of("model.pattern = [\"softmax\", \"hyena\"]\n"),
            "bad.toml:3:17: model.pattern = [\"softmax\", \"hyena\"]: must be \"softmax\" or "
            "\"linear\", not \"hyena\"" +
                none);
  EXPECT_EQ(of("model.mixer = { kind = \"linear\", update = \"delta\" }\n"),
            "bad.toml:3:43: model.mixer.update = \"delta\": must be \"sum\"" + none);
  EXPECT_EQ(of("model.mixer = { kind = \"linear\", features = \"cosformer\" }\n"),
            "bad.toml:3:45: model.mixer.features.kind = \"cosformer\": counts tokens" + none);
  EXPECT_EQ(of("model.mixer.convolution = 3\n"),
            "bad.toml:3:27: model.mixer.convolution = 3: must be 0" + none);
}

TEST(ConfigErrors, KeysThatNothingWouldHeed) {
  const std::string gradients = "train.validate.gradients = 3\n";
  EXPECT_EQ(error_after_files(gradients), "");
  EXPECT_EQ(error_after_files(gradients + "train.validate.kernels = false\n"),
            "bad.toml:2:28: train.validate.gradients has no effect with train.validate.kernels = "
            "false; remove it");
  EXPECT_EQ(
      error_after_files(gradients + "train.overfit = true\n"),
      "bad.toml:2:28: train.validate.gradients has no effect with train.overfit = true; remove it");
  EXPECT_EQ(error_after_files("model.mixer.warm_steps = 3\n"),
            "bad.toml:2:26: model.mixer.warm_steps has no effect with model.mixer.kind = "
            "\"softmax\"; remove it");
  EXPECT_EQ(error_after_files("model.mixer.delta.negative = true\n"),
            "bad.toml:2:30: model.mixer.delta.negative has no effect with model.mixer.kind = "
            "\"softmax\"; remove it");
  const std::string wsd = "optim.schedule = { kind = \"wsd\", floor = 1e-4";
  EXPECT_EQ(error_after_files(wsd + ", decay = 9 }\n"), "");
  EXPECT_EQ(error_after_files(wsd + " }\n"),
            "bad.toml:2:42: optim.schedule.floor has no effect with optim.schedule.kind = \"wsd\" "
            "and optim.schedule.decay = 0; remove it");
  // A run that has them goes on.
  for (const char* keys :
       {"train.validate.gradients = 3\ntrain.overfit = true\n",
        "train.validate.gradients = 3\ntrain.validate.kernels = false\n",
        "model.mixer.warm_steps = 3\n", "optim.schedule = { kind = \"wsd\", floor = 1e-4 }\n"})
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
            "--set: train.validate.gradients has no effect with train.validate.kernels = false; "
            "remove it");
  EXPECT_EQ(error_of(gradients, "train.validate.kernels=false"),
            "--set: train.validate.gradients has no effect with train.validate.kernels = false; "
            "remove it");
  EXPECT_EQ(error_of("", "data.asked=0.5"),
            "--set: data.asked has no effect with data.kind = \"bytes\"; remove it");
  // Others may be changed all the same.
  EXPECT_EQ(error_of(gradients + "train.validate.kernels = false\n", "train.steps=7"), "");
}

TEST(ConfigErrors, TheDeltaRuleIsForLinearAttentionAlone) {
  const std::string delta = "model.mixer.update = \"delta\"\n";
  EXPECT_EQ(error_after_files(delta),
            "bad.toml:2:22: model.mixer.update has no effect with model.mixer.kind = \"softmax\"; "
            "remove it");
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

TEST(ConfigErrors, BucketsAreOfSequencesThatDifferInLength) {
  EXPECT_EQ(error_in("data.kind = \"recall\"\ndata.buckets = 4\n"),
            "bad.toml:2:16: data.buckets has no effect with data.kind = \"recall\"; remove it");
  const std::string classifier = "model.kind = \"classifier\"\ndata.buckets = 4\ndata.kind = ";
  EXPECT_EQ(error_in(classifier + "\"shapes\"\n"),
            "bad.toml:2:16: data.buckets has no effect with data.kind = \"shapes\"; remove it");
  EXPECT_EQ(error_in(classifier + "\"listops\"\n"), "");
  EXPECT_EQ(error_in(classifier + "\"texts\"\ndata.files = \"a/*\"\n"), "");
  EXPECT_EQ(
      error_in("model.kind = \"classifier\"\ndata.kind = \"listops\"\n"
               "data.buckets = 65536\ntrain.batch = 128\n"),
      "bad.toml:3:16: data.buckets = 65536: must be at most 8192 with train.batch = 128: more "
      "than 1048576 sequences would be sorted at once");
}

TEST(ConfigErrors, KeysOfOtherData) {
  EXPECT_EQ(
      error_after_files("data.validation_length = 4096\n"),
      "bad.toml:2:26: data.validation_length has no effect with data.kind = \"bytes\"; remove it");
  EXPECT_EQ(
      error_after_files("data.test_examples = 9\n"),
      "bad.toml:2:22: data.test_examples has no effect with data.kind = \"bytes\"; remove it");
  const std::string induction = "data.kind = \"induction\"\n";
  EXPECT_EQ(error_in(induction + "data.test_examples = 9\n"), "");
  EXPECT_EQ(
      error_in(induction + "data.gap_power = 0.1\n"),
      "bad.toml:2:18: data.gap_power has no effect with data.kind = \"induction\"; remove it");
  EXPECT_EQ(error_in(induction + "data.filler = \"all\"\n"),
            "bad.toml:2:15: data.filler has no effect with data.kind = \"induction\"; remove it");
  EXPECT_EQ(
      error_in(induction + "model.norm_momentum = 0.5\n"),
      "bad.toml:2:23: model.norm_momentum has no effect with model.norm = \"layer\"; remove it");
  EXPECT_EQ(error_in(induction + "model.mixer = { kind = \"linear\", time_kernel.rank = 3 }\n"),
            "bad.toml:2:53: model.mixer.time_kernel.rank has no effect with "
            "model.mixer.time_kernel.kind = \"none\"; remove it");
}

TEST(ConfigErrors, KeysOfOtherMethodsOfAProcessAreRefused) {
  const std::string process =
      "train.batch = 1\nmodel.kind = \"gp\"\ndata.kind = \"table\"\ndata.files = [\"t.csv\"]\n";
  EXPECT_EQ(
      error_in(process + "model.gp.cg.rank = 5\n"),
      "bad.toml:5:20: model.gp.cg.rank has no effect with model.gp.method = \"exact\"; remove it");
  EXPECT_EQ(error_in(process + "model.gp.m = 7\n"),
            "bad.toml:5:14: model.gp.m has no effect with model.gp.method = \"exact\" and "
            "model.gp.density.kind = \"gaussian\"; remove it");
  EXPECT_EQ(error_in(process + "model.gp.method = \"cg\"\nmodel.gp.cg.rank = 5\n"), "");
  EXPECT_EQ(error_in(process + "model.gp.density.posterior = \"full\"\n"),
            "bad.toml:5:30: model.gp.density.posterior has no effect with model.kind = \"gp\"; "
            "remove it");
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

}  // namespace config_checks_test
