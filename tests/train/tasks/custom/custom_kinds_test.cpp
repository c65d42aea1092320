#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/ops.hpp>
#include <bochner/base/xtensor.hpp>
#include <bochner/data/tables/table_source.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/models/loss.hpp>
#include <bochner/train/tasks/custom/custom_task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

#include "data/messages.hpp"
#include "faults/crashing_storage.hpp"
#include "layers/scaled_norm.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"

/// Losses, sources of tables and tasks of a program.
namespace bochner {
namespace custom_kinds_test {

using faults::CrashingStorage;
using testing::HasSubstr;

struct FocalSpec {
  double gamma = 2;
};
void describe(Keys& keys, FocalSpec& spec) {
  keys("gamma", spec.gamma, at_least(0), "exponent of 1 - p");
}

class Focal : public LabelLoss {
 public:
  Focal(const LossSpec&, const FocalSpec& own) : gamma_(real(own.gamma)) {}
  Var of_labels(const Var& logits, const Indices& labels) const override {
    const Var log_p = label_log_probabilities(logits, labels);
    return -pow(1 - exp(log_p), gamma_) * log_p;
  }

 private:
  real gamma_;
};

class LogCosh : public ValueLoss {
 public:
  explicit LogCosh(const LossSpec&) {}
  Var of_values(const Var& predicted, const Var& targets) const override {
    const Var error = predicted - targets;
    return error + softplus(-2 * error) - std::log(2);
  }
};

struct MarginSpec {
  double margin = 0;
};
void describe(Keys& keys, MarginSpec& spec) { keys("margin", spec.margin, "must be set"); }

/// Refuses the default of its spec.
class Margin : public LogCosh {
 public:
  Margin(const LossSpec& spec, const MarginSpec& own) : LogCosh(spec) {
    require(own.margin != 0, "margin", "set model.margin");
  }
};

struct WavesSpec {
  std::size_t series = 40;
  double pace = 0.7;
};
void describe(Keys& keys, WavesSpec& spec) {
  keys("waves", spec.series, between(1, 1000), "number of waves");
  keys("pace", spec.pace, above(0), "radians of a row");
}

/// Waves of 12 rows; every fourth one is "slow", the others are "fast".
class Waves : public TableSource {
 public:
  Waves(const TableSourceSpec&, const WavesSpec& own) : own_(own) {}
  NamedArray table() const override {
    constexpr std::size_t T = 12;
    NamedArray table{xt::zeros<double>({own_.series * T, std::size_t(3)}),
                     {"series", "label", "x"}};
    table.texts[1] = {"fast", "slow"};
    for (std::size_t row = 0; row < own_.series * T; ++row) {
      const bool slow = row / T % 4 == 3;
      table.values(row, 0) = double(row / T);
      table.values(row, 1) = slow;
      table.values(row, 2) = phase + std::sin(own_.pace * double(row) * (slow ? 0.5 : 2));
    }
    return table;
  }
  static double phase;

 private:
  WavesSpec own_;
};
double Waves::phase = 0;

/// Tells that it was asked for a table.
class Asked : public TableSource {
 public:
  explicit Asked(const TableSourceSpec&) {}
  NamedArray table() const override { throw DataError("the source was asked"); }
};

struct SlopeSpec {
  double slope = 3;
};
void describe(Keys& keys, SlopeSpec& spec) { keys("slope", spec.slope, "slope of the data"); }

/// A line through points of a noisy one.
class Slope : public CustomTask {
 public:
  Slope(const CustomTaskSpec& spec, const SlopeSpec& own) : CustomTask(spec), own_(own) {}
  Module& model() override { return line_; }
  Var loss(Tape& tape, const Examples& examples) override {
    Tensor x = zeros({examples.size(), 1}), y = x;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      Draws random = draws(examples, i);
      x(i, 0) = real(random.between(-1, 1));
      y(i, 0) = real(own_.slope) * x(i, 0) + real(random.between(-0.1, 0.1));
    }
    return mean_squared_error(line_.forward(tape, tape.constant(x)), y);
  }
  std::string loss_unit() const override { return "mse"; }
  std::vector<std::pair<std::string, double>> measures(Tape&, const Examples&) override {
    return {{"weight", double(parameters_of(line_)[0].parameter->value().data()[0])}};
  }

 private:
  SlopeSpec own_;
  Linear line_{1, 1};
};

class CustomKinds : public testing::Test {
 protected:
  CustomKinds() {
    losses().add("focal", make<Focal, FocalSpec>);
    losses().add("log_cosh", make<LogCosh>);
    table_sources().add("waves", make<Waves, WavesSpec>);
    table_sources().add("asked", make<Asked>);
    tasks().add("slope", make<Slope, SlopeSpec>);
    norms().add("scaled", make<Scaled, ScaledSpec>);
  }
  ~CustomKinds() override {
    losses() = losses_, table_sources() = sources_, tasks() = tasks_, norms() = norms_;
    Waves::phase = 0;
  }

  static Config config(const std::vector<std::string>& sets) {
    Config made = parse_config(tiny_model, "tiny.toml", registered_parameters());
    for (const std::string& set : sets) apply_set(made, set);
    validate(made);
    return made;
  }
  static std::vector<std::string> with(std::vector<std::string> sets,
                                       const std::vector<std::string>& more) {
    sets.insert(sets.end(), more.begin(), more.end());
    return sets;
  }
  static std::string error(const std::vector<std::string>& sets) {
    return message_of<ConfigError>([&] { config(sets); });
  }
  /// Trains for 20 steps, once without a stop and once killed after step 13.
  static void expect_equal_bits(const Config& config) {
    CrashingStorage whole, killed;
    start_leg(whole, config, 1);
    start_leg(killed, config, 2, Ending::kill, 13);
    resume_leg(killed, 1);
    EXPECT_EQ(difference(remains_of(killed), remains_of(whole)), "");
  }

  TemporaryFolder folder;
  const std::vector<std::string> text = {"data.files=['" +
                                         folder.write("text", tiny_text()).string() + "']"},
                                 forecasts = {"model.kind=forecaster", "data.kind=series",
                                              "data.columns=['x']",    "data.source=waves",
                                              "data.lookback=24",      "data.horizon=6",
                                              "optim.lr=0.01"},
                                 classes = {"model.kind=classifier",
                                            "data.kind=labelled_series",
                                            "model.positions=sinusoidal",
                                            "data.source=waves",
                                            "model.patch.length=4",
                                            "model.patch.stride=2",
                                            "data.validation=0.2",
                                            "train.batch=8",
                                            "optim.lr=0.01"},
                                 run = {"train.steps=20", "train.log.every=3",
                                        "train.validate.every=5", "train.checkpoint.every=4"};

 private:
  Losses losses_ = losses();
  TableSources sources_ = table_sources();
  CustomTasks tasks_ = tasks();
  Norms norms_ = norms();
};

TEST_F(CustomKinds, LossesAreForModelsOfTheirTargets) {
  EXPECT_NO_THROW(config(with(text, {"model.loss=focal", "model.gamma=1"})));
  EXPECT_THAT(error(with(text, {"model.loss=log_cosh"})),
              HasSubstr("model.loss = \"log_cosh\": needs model.kind = \"forecaster\" or "
                        "\"regressor\""));
  EXPECT_THAT(error(with(forecasts, {"model.loss=focal"})),
              HasSubstr("model.loss = \"focal\": needs model.kind = \"lm\" or \"classifier\""));
  EXPECT_THAT(error(with(text, {"model.loss=focal", "model.gamma=-1"})),
              HasSubstr("model.gamma = -1.0: must be at least 0"));
  EXPECT_THAT(error(with(text, {"model.gamma=1"})),
              HasSubstr("model.gamma has no effect with model.loss = \"mse\"; remove it"));
  EXPECT_THAT(error(with(text, {"model.loss=focal", "model.noise.draws=20"})),
              HasSubstr("model.noise.draws has no effect with model.loss = \"focal\"; remove it"));
  EXPECT_THAT(error(with(classes, {"model.loss=focal", "model.label_smoothing=0.1"})),
              HasSubstr("model.label_smoothing has no effect with model.loss = \"focal\""));
}

TEST_F(CustomKinds, LossesMayRefuseTheirDefaults) {
  losses().add("margin", make<Margin, MarginSpec>);
  EXPECT_NO_THROW(make_task(config(with(forecasts, {"model.loss=margin", "model.margin=1"}))));
  EXPECT_NO_THROW(make_task(config(with(forecasts, {"model.loss=huber"}))));
  EXPECT_THAT(error(with(forecasts, {"model.loss=margin"})),
              HasSubstr("model.loss = \"margin\": [margin] set model.margin"));
  EXPECT_THAT(message_of<std::invalid_argument>([] { make_value_loss({"focal"}); }),
              HasSubstr("is called \"focal\"; there are: mse, mae, huber, log_cosh"));
}

TEST_F(CustomKinds, NormsHaveKeys) {
  const auto loss = [&](const std::string& scale) {
    const auto task = make_task(config(with(text, {"model.norm=scaled", "model.scale=" + scale})));
    Tape tape({.recording = false});
    return double(task->loss(tape, task->data().training(0, 1)).value()());
  };
  EXPECT_NE(loss("0.5"), loss("3"));
  EXPECT_THAT(error(with(text, {"model.scale=3"})),
              HasSubstr("model.scale has no effect with model.norm = \"layer\"; remove it"));
}

TEST_F(CustomKinds, LossesTrainLanguageModels) {
  const Config focal = config(with(text, {"model.loss=focal", "optim.lr=0.02"}));
  const auto task = make_task(focal);
  train(focal, *task, 150);
  EXPECT_LT(evaluate_task(*task, Split::validation, 2)->loss(), 3.3);
  expect_equal_bits(config(with(with(text, run), {"model.loss=focal", "model.gamma=1"})));
}

TEST_F(CustomKinds, LossesTrainClassifiersOnSources) {
  const Config focal = config(with(classes, {"model.loss=focal", "model.class_weights=balanced"}));
  const auto task = make_task(focal);
  train(focal, *task, 100);
  const Verdict verdict = task->verdict(held_out_examples(task->data(), 4, 0));
  EXPECT_GT(verdict.score, 0.9) << verdict.words();
  EXPECT_TRUE(verdict.beats_naive()) << verdict.words();
}

TEST_F(CustomKinds, LossesTrainForecastersOnSources) {
  const Config keys = config(with(forecasts, {"model.loss=log_cosh"}));
  const auto task = make_task(keys);
  const double before = evaluate_task(*task, Split::validation, 8)->loss();
  train(keys, *task, 200);
  const Evaluation after = *evaluate_task(*task, Split::validation, 8);
  EXPECT_LT(after.loss(), before / 2);
  EXPECT_EQ(after.unit, "log_cosh");
  NamedArray question = table_sources().make("waves", {"waves"})->table();
  question.values = xt::xarray<double>(xt::view(question.values, xt::range(0, 24), xt::all()));
  EXPECT_EQ(predict(task, question).values.shape()[0], 6u);
  expect_equal_bits(config(with(with(forecasts, run), {"model.loss=log_cosh"})));
}

TEST_F(CustomKinds, SourcesAreRefusedWhereTheyHaveNoEffect) {
  EXPECT_THAT(error({"data.source=waves"}),
              HasSubstr("data.source = \"waves\": must be \"files\" with data.kind = \"bytes\""));
  EXPECT_THAT(error(with(forecasts, {"data.files=['a.csv']"})),
              HasSubstr("data.files has no effect with data.source = \"waves\"; remove it"));
  EXPECT_THAT(error(with(forecasts, {"data.source=wave"})), HasSubstr("Did you mean \"waves\"?"));
  EXPECT_THAT(
      message_of<DataError>([&] { make_task(config(with(forecasts, {"data.columns=['y']"}))); }),
      HasSubstr("waves: no column \"y\""));
}

TEST_F(CustomKinds, SourcesAreAskedByAllKindsThatReadTables) {
  const auto config_of = [](const TaskKind& kind) {
    return parse_config(fmt::format("[model]\nkind = \"{}\"\n[data]\nkind = \"{}\"\n"
                                    "source = \"asked\"\nlabel_column = \"label\"\n",
                                    kind.model, kind.data),
                        "asked.toml", registered_parameters());
  };
  std::size_t asked = 0;
  for (const TaskKind& kind : task_kinds()) {
    if (!kind.read || kind.validation == validation_examples) continue;
    EXPECT_THAT(message_of<DataError>([&] { make_task(config_of(kind)); }),
                HasSubstr("the source was asked"))
        << kind.model << " of " << kind.data;
    ++asked;
  }
  EXPECT_GE(asked, 10u);
  EXPECT_THAT(error({"model.kind=field", "data.kind=field_files", "data.source=asked"}),
              HasSubstr("must be \"files\" with data.kind = \"field_files\", which reads no"));
}

TEST_F(CustomKinds, RunsRefuseASourceThatChanged) {
  CrashingStorage storage;
  start_leg(storage, config(with(forecasts, run)), 1, Ending::kill, 13);
  Waves::phase = 0.5;
  EXPECT_THAT(message_of<DataError>([&] { resume_leg(storage, 1); }),
              HasSubstr("the table of data.source = \"waves\" has changed since the run began; "
                        "restore the program"));
}

TEST_F(CustomKinds, TasksTrainAndResume) {
  const std::vector<std::string> slope = {"model.kind=slope",
                                          "data.kind=slope",
                                          "model.slope=-2",
                                          "data.train_examples=50",
                                          "data.validation_examples=20",
                                          "train.batch=10",
                                          "optim.lr=0.1"};
  EXPECT_THAT(
      error({"model.kind=slope"}),
      HasSubstr("data.kind = \"bytes\": must be \"slope\" too with model.kind = \"slope\""));
  EXPECT_THAT(error(with(text, {"model.slope=2"})),
              HasSubstr("model.slope has no effect with model.kind = \"lm\"; remove it"));
  const Config keys = config(slope);
  const auto task = make_task(keys);
  train(keys, *task, 100);
  const Evaluation after = *evaluate_task(*task, Split::validation, 8);
  EXPECT_LT(after.loss(), 0.01);
  EXPECT_EQ(after.terms, 20u);
  EXPECT_NEAR(after.mean("weight"), -2, 0.1);
  expect_equal_bits(config(with(slope, run)));
}

}  // namespace custom_kinds_test
}  // namespace bochner
