#include <sys/resource.h>

#include <bochner/base/errors.hpp>
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

/// Near the spaces of Unicode toml++ took letters for impossible, which only a sanitizer sees.
TEST(ConfigErrors, LettersOutsideOfQuotes) {
  for (const std::string letter : {"\u00e9", "\u2e52", "\ufe01"}) {
    EXPECT_EQ(error_in(letter + " = 3\n"),
              "bad.toml:1:1: Error while parsing root table: expected keys, tables, whitespace or "
              "comments, saw '" +
                  letter + "'");
  }
}

/// What the system fails at is no mistake of the user's.
TEST(ConfigErrors, OfTheSystemHaveTheirOwnAdvice) {
  const auto reading = [](const std::filesystem::path& file) -> std::string {
    try {
      load_config(file, registered_parameters());
    } catch (const IoError& error) {
      return error.what();
    }
    return "no IoError";
  };
  EXPECT_EQ(reading("/proc/self/mem"),
            "/proc/self/mem: cannot read: Input/output error; check the disk");
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const std::string said = reading("/etc/hostname");
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(said,
            "/etc/hostname: cannot open: Too many open files; close files or raise the limit "
            "(ulimit -n)");
}

TEST(ConfigErrors, KeysThatTheChosenKindHasNot) {
  EXPECT_EQ(error_after_files("data.lookback = 9\n"),
            "bad.toml:2:17: data.lookback has no effect with data.kind = \"bytes\"; remove it");
  EXPECT_EQ(error_after_files("data.time_column = \"t\"\n"),
            "bad.toml:2:20: data.time_column has no effect with data.kind = \"bytes\"; remove it");
  EXPECT_EQ(error_after_files("model.pooling = \"cls\"\n"),
            "bad.toml:2:17: model.pooling has no effect with model.kind = \"lm\"; remove it");
  EXPECT_EQ(error_after_files("data.lookback = 336\n"), "") << "the default";
  const std::string shapes =
      "model.kind = \"classifier\"\ndata.kind = \"shapes\"\ndata.side = 20\n";
  EXPECT_EQ(error_in(shapes), "");
  EXPECT_EQ(error_in(shapes, {"data.kind=listops"}), "") << "the file may be for another kind";
  EXPECT_EQ(error_in(shapes, {"data.kind=listops", "data.side=24"}),
            "--set: data.side has no effect with data.kind = \"listops\"; remove it");
}

TEST(ConfigErrors, KeysThatTheChosenOptimizerHasNot) {
  EXPECT_EQ(error_after_files("optim.momentum = 0.5\n"),
            "bad.toml:2:18: optim.momentum has no effect with optim.kind = \"adamw\"; remove it");
  EXPECT_EQ(error_after_files("optim.nesterov = true\noptim.kind = \"sgd\"\n"), "");
  EXPECT_EQ(error_after_files("optim.kind = \"sgd\"\noptim.betas = [0.5, 0.6]\n"),
            "bad.toml:3:15: optim.betas has no effect with optim.kind = \"sgd\"; remove it");
  EXPECT_EQ(
      error_after_files("optim.temperature = 2\n"),
      "bad.toml:2:21: optim.temperature has no effect with optim.kind = \"adamw\"; remove it");
  EXPECT_EQ(error_after_files("optim.schedule = { kind = \"cosine\", decay = 3 }\n"),
            "bad.toml:2:45: optim.schedule.decay has no effect with optim.schedule.kind = "
            "\"cosine\"; remove it");
  EXPECT_EQ(error_after_files("optim.schedule.floor = 1e-4\n"),
            "bad.toml:2:24: optim.schedule.floor has no effect with optim.schedule.kind = "
            "\"constant\"; remove it");
}

TEST(ConfigErrors, EveryTextOfAListIsAChoice) {
  const std::string estimators = "model.mixer.features.estimators = ";
  EXPECT_EQ(error_in("data.files = [\"a\"]\n" + estimators + "[\"positive\", \"aderf\"]\n",
                     {"model.mixer.kind=linear", "model.mixer.features=hybrid"}),
            "");
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
            "which is for model.kind = \"events\", \"lm\", \"classifier\" or \"contrastive\"");
  EXPECT_EQ(error_in("data.kind = \"hawkes\"\nmodel.time = \"flow\"\n"), "");
  EXPECT_EQ(error_in("data.kind = \"event_files\"\ndata.files = [\"x.csv\"]\n"
                     "model.kind = \"classifier\"\n"),
            "bad.toml:1:13: data.label_column = \"\": must name the column of labels for a "
            "classifier of data.kind = \"event_files\"");
  EXPECT_EQ(error_in("data.kind = \"event_files\"\ndata.files = [\"x.csv\"]\n"
                     "data.label_column = \"ill\"\n"),
            "bad.toml:3:21: data.label_column has no effect with model.kind = \"lm\"; remove it");
  EXPECT_EQ(
      error_in("model.kind = \"events\"\ndata.kind = \"copy\"\n"),
      "bad.toml:1:14: model.kind = \"events\": cannot learn data.kind = \"copy\", which is for "
      "model.kind = \"lm\"");
  EXPECT_EQ(error_in("data.kind = \"copy\"\nmodel.time = \"flow\"\n"),
            "bad.toml:2:14: model.time.kind has no effect with model.kind = \"lm\" and data.kind = "
            "\"copy\"; remove it");
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
            "is for model.kind = \"lm\" or \"vae\"");
  EXPECT_EQ(error_after_files("data.kind = \"series\"\n"),
            "bad.toml:2:13: model.kind = \"lm\": cannot learn data.kind = \"series\", which is for "
            "model.kind = \"forecaster\", \"ensemble\", \"vae\" or \"contrastive\"");
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
  EXPECT_EQ(error_in("model.width = 128.5\n"),
            "bad.toml:1:15: model.width = 128.5: must be a whole number");
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
  EXPECT_EQ(error_in("train.steps = \"\"\n").substr(0, 55),
            "bad.toml:1:15: train.steps = \"\": must be a period: 500 ");
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
  EXPECT_EQ(error_after_files("model.blocks = -1\n"),
            "bad.toml:2:16: model.blocks = -1: must be between 0 and 10000");
  EXPECT_EQ(error_after_files("optim.betas = [0.9, 1]\n"),
            "bad.toml:2:15: optim.betas = [0.9, 1.0]: every number must be at least 0 and less "
            "than 1");
  EXPECT_EQ(error_after_files("optim.lr = nan\n"),
            "bad.toml:2:12: optim.lr = nan: must be a finite number");
  EXPECT_EQ(error_after_files("optim.lr = -inf\n"),
            "bad.toml:2:12: optim.lr = -inf: must be a finite number");
  EXPECT_EQ(error_after_files("model.mixer.sharpness = 0.0\n"),
            "bad.toml:2:25: model.mixer.sharpness = 0.0: must be greater than 0");
  EXPECT_EQ(error_after_files("optim.kind = \"adamv\"\n"),
            "bad.toml:2:14: optim.kind = \"adamv\": must be \"adamw\", \"adam\", "
            "\"natural\", \"sgd\", \"natural_cg\", \"langevin\", \"muon\", \"lion\" or "
            "\"schedule_free\". Did you mean \"adamw\"?");
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
  EXPECT_EQ(error_after_files("train.time = 0\ntrain.log.every = 0\n"), "");
  EXPECT_EQ(error_after_files("train.checkpoint.every = \"5min\"\n"), "");
  EXPECT_EQ(error_after_files("train.checkpoint.every = 5\n"), "");
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
  EXPECT_EQ(error_in("", {"data.files=1\n" + dotted + "=1"}), "--set" + deep);
  // Dots in texts and comments are no keys.
  EXPECT_EQ(error_in("", {"data.files=" + dotted}), "");
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
