#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/xtensor.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

#include "faults/crashing_storage.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace forecast_task_test {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t rows = 400, L = 24, H = 8, train_rows = 240, test_begin = 320;

/// Two variates: sums of sinusoids in different units.
double number_at(std::size_t variate, std::size_t row) {
  const double t = double(row);
  if (variate == 0) return 100 + 10 * std::sin(t / 4) + std::cos(t / 2.3);
  return 0.1 * std::sin(t / 5 + 1) - 0.01 * std::cos(t / 1.7);
}

/// "hour,a,b" and rows first, ..., last - 1.
std::string series_text(std::size_t first = 0, std::size_t last = rows) {
  std::string text = "hour,a,b\n";
  for (std::size_t row = first; row < last; ++row)
    text += fmt::format("{},{},{}\n", row * 3600, number_at(0, row), number_at(1, row));
  return text;
}

CsvOptions hourly() {
  CsvOptions options;
  options.time = "hour", options.time_format = "%s";
  return options;
}

class ForecastTaskTest : public testing::Test {
 protected:
  Config config(const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> all = {"model.kind=forecaster",   "data.kind=series",
                                    "data.time_column=hour",   "data.time_format='%s'",
                                    "data.splits=[240,80,80]", "data.lookback=24",
                                    "data.horizon=8"};
    if (std::ranges::count(sets, "model.backbone=attention") > 0)
      all.insert(all.end(), {"model.patch.length=6", "model.patch.stride=3"});
    all.insert(all.end(), sets.begin(), sets.end());
    return tiny_config(file_, all);
  }
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.write("series.csv", series_text());
};

void set_parameters(Module& model, real value) {
  for (const NamedParameter& named : parameters_of(model)) named.parameter->value().fill(value);
}

Evaluation evaluation(Task& task, Split split) { return *evaluate_task(task, split, 7); }

/// Errors of a forecast, computed independently in the unit of the training rows.
template <class Forecast>
std::pair<double, double> errors_of(const Forecast& forecast) {
  double squared = 0, absolute = 0;
  std::size_t terms = 0;
  for (std::size_t v = 0; v < 2; ++v) {
    double mean = 0, variance = 0;
    for (std::size_t row = 0; row < train_rows; ++row) mean += number_at(v, row) / train_rows;
    for (std::size_t row = 0; row < train_rows; ++row)
      variance += std::pow(number_at(v, row) - mean, 2) / train_rows;
    for (std::size_t first = test_begin; first + H <= rows; ++first) {
      for (std::size_t h = 0; h < H; ++h, ++terms) {
        const double error =
            (forecast(v, first, mean) - number_at(v, first + h)) / std::sqrt(variance);
        squared += error * error;
        absolute += std::abs(error);
      }
    }
  }
  return {squared / double(terms), absolute / double(terms)};
}

TEST_F(ForecastTaskTest, SaysWhatItLearnsFromWhat) {
  const auto task = make_task(config());
  EXPECT_EQ(describe_model(task), "forecaster, linear, revin, 8 from 24 rows");
  EXPECT_EQ(task->data().words(),
            "2 variates, 400 rows  ·  209 windows to train, 73 to validate, 73 to test");
  EXPECT_EQ(task->data().examples(Split::train), 209u);
  EXPECT_EQ(task->data().tokens_per_example(), 16u);
  EXPECT_EQ(task->data().batches(Split::validation, 10), 8u);
  const auto attention = make_task(config({"model.backbone=attention"}));
  EXPECT_THAT(describe_model(attention), StartsWith("forecaster, 1 block, D 8, "));
  EXPECT_THAT(describe_model(attention), HasSubstr("7 patches"));
}

TEST_F(ForecastTaskTest, ScoresTrivialForecastsAsTheyAre) {
  const auto persistent = make_task(config({"model.instance_norm=last"}));
  set_parameters(persistent->model(), 0);
  const auto last =
      errors_of([](std::size_t v, std::size_t first, double) { return number_at(v, first - 1); });
  Evaluation result = evaluation(*persistent, Split::test);
  EXPECT_NEAR(result.mean("mse"), last.first, 1e-5);
  EXPECT_NEAR(result.mean("mae"), last.second, 1e-5);
  EXPECT_EQ(result.terms, 73u * 2 * H);

  const auto mean = make_task(config({"model.instance_norm=none"}));
  set_parameters(mean->model(), 0);
  const auto zero = errors_of([](std::size_t, std::size_t, double m) { return m; });
  result = evaluation(*mean, Split::test);
  EXPECT_NEAR(result.mean("mse"), zero.first, 1e-5);
  EXPECT_NEAR(result.mean("mae"), zero.second, 1e-5);
  EXPECT_NEAR(result.loss(), zero.first, 1e-5);
}

TEST_F(ForecastTaskTest, EachSplitHasItsWindows) {
  const auto task = make_task(config());
  EXPECT_EQ(evaluation(*task, Split::train).terms, 209u * 2 * H);
  const Evaluation held_out = evaluation(*task, Split::validation);
  EXPECT_EQ(held_out.terms, 73u * 2 * H);
  EXPECT_NE(held_out.loss(), evaluation(*task, Split::test).loss());
  EXPECT_EQ(held_out.json().line(), evaluate_task(*task, Split::validation, 7)->json().line());
}

TEST_F(ForecastTaskTest, TheUnitOfTheTrainingRowsIsABuffer) {
  const auto mean_of = [](Task& task) { return (*buffers_of(task.model()).front().tensor)(0); };
  const auto task = make_task(config());
  EXPECT_EQ(buffers_of(task->model()).front().name, "standardize.mean");
  const real before = mean_of(*task);
  EXPECT_NEAR(before, 100, 1);
  std::string text = series_text(0, train_rows);
  for (std::size_t row = train_rows; row < rows; ++row)
    text += fmt::format("{},1e6,{}\n", row * 3600, number_at(1, row));
  folder_.write("series.csv", text);
  EXPECT_EQ(mean_of(*make_task(config())), before);
}

TEST_F(ForecastTaskTest, SinusoidsAreLearned) {
  const double persistence = errors_of([](std::size_t v, std::size_t first, double) {
                               return number_at(v, first - 1);
                             }).first;
  for (const char* backbone : {"linear", "attention"}) {
    const Config learning =
        config({std::string("model.backbone=") + backbone, "train.batch=32", "optim.lr=0.01",
                "optim.weight_decay=0", "model.instance_norm=mean"});
    const auto task = make_task(learning);
    train(learning, *task, 400);
    EXPECT_LT(evaluation(*task, Split::test).mean("mse"), 0.15 * persistence) << backbone;
  }
}

/// Forecasting from the rows before the test rows gives the first test window.
TEST_F(ForecastTaskTest, PredictsTheRowsThatFollow) {
  const auto task = make_task(config());
  const NamedArray seen = parse_csv(series_text(test_begin - L, test_begin), "seen", hourly());
  const NamedArray next = predict(task, seen);
  EXPECT_EQ(next.columns, (std::vector<std::string>{"hour", "a", "b"}));
  ASSERT_EQ(next.values.shape()[0], H);
  for (std::size_t h = 0; h < H; ++h) EXPECT_EQ(next.values(h, 0), double(test_begin + h) * 3600);
  double squared = 0;
  const Tensor& deviation = *buffers_of(task->model()).back().tensor;
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t v = 0; v < 2; ++v)
      squared += std::pow(
          (next.values(h, 1 + v) - number_at(v, test_begin + h)) / double(deviation(v)), 2);
  Tape tape;
  const Evaluation first = task->evaluate(tape, task->data().part(Split::test, 0, 1));
  EXPECT_NEAR(squared / double(2 * H), first.mean("mse"), 1e-4);
}

TEST_F(ForecastTaskTest, TakesColumnsByTheirNames) {
  const auto task = make_task(config());
  NamedArray seen = parse_csv(series_text(0, L), "seen", hourly());
  const NamedArray next = predict(task, seen);
  xt::xarray<double> a = xt::view(seen.values, xt::all(), 1),
                     b = xt::view(seen.values, xt::all(), 2);
  xt::view(seen.values, xt::all(), 1) = b;
  xt::view(seen.values, xt::all(), 2) = a;
  std::swap(seen.columns[1], seen.columns[2]);
  EXPECT_EQ(predict(task, seen).values, next.values);
  NamedArray bare{xt::view(seen.values, xt::all(), xt::range(1, 3)), {}};
  const NamedArray from_bare = predict(task, bare);
  EXPECT_EQ(from_bare.values.shape()[1], 2u);
  EXPECT_NE(from_bare.values(0, 0), next.values(0, 1));
}

TEST_F(ForecastTaskTest, ReadsOnlyItsColumnsAndTheTime) {
  const auto task = make_task(config());
  std::string noted = "note," + series_text(0, L);
  for (std::size_t at = noted.find('\n'); at + 1 < noted.size(); at = noted.find('\n', at + 1))
    noted.insert(at + 1, "text,");
  CsvOptions options = hourly();
  options.named_columns = tables(task).input_columns();
  const NamedArray next = predict(task, parse_csv(noted, "noted", options));
  EXPECT_THAT(next.columns, testing::ElementsAre("hour", "a", "b"));
  EXPECT_EQ(next.values, predict(task, parse_csv(series_text(0, L), "seen", hourly())).values);
}

TEST_F(ForecastTaskTest, RefusesInputThatDoesNotFit) {
  const auto task = make_task(config());
  EXPECT_EQ(message_of<DataError>([&] {
              predict(task, {xt::zeros<double>({L, std::size_t(3)}), {}});
            }),
            "the input has 3 variates; the model forecasts 2");
  EXPECT_EQ(message_of<DataError>([&] {
              predict(task, {xt::zeros<double>({L - 1, std::size_t(2)}), {}});
            }),
            "the input has 23 rows; the model needs at least 24");
  EXPECT_EQ(make_task(tiny_config("unused", {"data.kind=copy"}))->learner().abilities().tables,
            nullptr);
}

std::vector<std::string> timed_rows() {
  return {"model.backbone=rows",     "data.stamps=true",          "data.drop=0.4",
          "model.positions=none",    "model.time.kind=free",      "model.time.use=rotate",
          "model.time.shortest=1.5", "model.time.longest=192",    "data.lookback=10",
          "data.horizon=6",          "model.mixer.kind=softmax",  "model.width=16",
          "model.mixer.heads=2",     "model.instance_norm=revin", "optim.lr=3e-3"};
}

/// Sinusoids at irregular times: stamps determine the phase, positions do not.
TEST_F(ForecastTaskTest, StampsTellMoreThanPositions) {
  const auto error = [&](const std::string& stamps) {
    std::vector<std::string> sets = timed_rows();
    sets.insert(sets.end(), {"data.stamps=" + stamps, "data.lookback=24", "model.blocks=2",
                             "optim.lr=1e-2", "train.batch=8"});
    const Config learning = config(sets);
    const auto task = make_task(learning);
    train(learning, *task, 200);
    return evaluation(*task, Split::test).mean("mse");
  };
  EXPECT_LT(error("true"), 0.6 * error("false"));
}

/// Rows without values are forecast at their times.
TEST_F(ForecastTaskTest, PredictsRowsAtTheTimesThatAreAsked) {
  const auto task = make_task(config(timed_rows()));
  EXPECT_THAT(describe_model(task), HasSubstr("positions none, time free (rotate)"));
  CsvOptions options = hourly();
  options.missing = "nan";
  const std::string seen = series_text(0, 20);
  const auto predicted = [&](const std::string& more) {
    return predict(task, parse_csv(seen + more, "seen", options));
  };
  const NamedArray next = predicted(""), asked = predicted("72000,,\n80000,,\n"),
                   other = predicted("72000,,\n81000,,\n");
  ASSERT_EQ(next.values.shape()[0], 6u);
  EXPECT_EQ(next.values(5, 0), 25 * 3600.0);
  ASSERT_EQ(asked.values.shape()[0], 2u);
  EXPECT_EQ(asked.values(1, 0), 80000.0);
  for (std::size_t v = 1; v < 3; ++v) {
    EXPECT_EQ(asked.values(0, v), next.values(0, v));
    EXPECT_NE(asked.values(1, v), other.values(1, v));
  }
  EXPECT_EQ(message_of<DataError>([&] { predicted("70000,,\n69000,,\n"); }),
            "row 22: times must increase; sort the rows");
  EXPECT_EQ(message_of<DataError>([&] { predicted("70000,1,\n"); }),
            "row 21, column b: a series needs finite numbers; fill in what is missing or choose "
            "other columns");
  std::string many;
  for (int i = 20; i < 27; ++i) many += fmt::format("{},,\n", 3600 * i);
  EXPECT_EQ(message_of<DataError>([&] { predicted(many); }),
            "the input asks for 7 rows; the model forecasts at most 6");
}

/// Missing values before future rows are carried forward; future rows are still forecast.
TEST_F(ForecastTaskTest, CarriesForwardUpToTheRowsThatAreAsked) {
  std::vector<std::string> sets = timed_rows();
  sets.push_back("data.missing=forward");
  const auto task = make_task(config(sets));
  CsvOptions options = hourly();
  options.missing = "nan";
  const auto predicted = [&](const std::string& more) {
    return predict(task, parse_csv(series_text(0, 20) + more, "seen", options));
  };
  const NamedArray whole = predicted("72000,90,0.5\n76000,90,0.5\n80000,,\n90000,,\n"),
                   holes = predicted("72000,90,0.5\n76000,,\n80000,,\n90000,,\n"),
                   part = predicted("72000,90,0.5\n76000,90,\n80000,,\n90000,,\n");
  ASSERT_EQ(whole.values.shape()[0], 2u);
  EXPECT_EQ(part.values, whole.values);
  ASSERT_EQ(holes.values.shape()[0], 3u);  // the row before has no values either
  EXPECT_EQ(holes.values(0, 0), 76000.0);
}

/// Without stamps rows have equal steps, as with stamps one apart; mixers that need equal steps are
/// allowed.
TEST_F(ForecastTaskTest, RowsWithoutStampsAreRegular) {
  std::vector<std::string> sets = timed_rows();
  std::erase_if(sets, [](const std::string& set) { return set.starts_with("model.time."); });
  sets.insert(sets.end(), {"model.positions=learned",
                           "model.mixer={kind=\"linear\",features=\"positive\",window=3}",
                           "model.mixer.time_kernel.kind=decay"});
  sets.push_back("data.stamps=false");
  const auto task = make_task(config(sets));
  EXPECT_NO_THROW(evaluation(*task, Split::test));
  sets.push_back("data.stamps=true");
  EXPECT_THAT(message_of<ConfigError>([&] { config(sets); }),
              HasSubstr("model.mixer.window = 3: needs model.mixer.time_kernel.kind = \"none\""));
}

TEST_F(ForecastTaskTest, OfTimedRowsResumesBitForBit) {
  std::vector<std::string> sets = timed_rows();
  sets.insert(sets.end(), {"model.dropout=0.1", "train.validate.every=20"});
  const Config learning = config(sets);
  faults::CrashingStorage whole, parts;
  start_leg(whole, learning, 1);
  start_leg(parts, learning, 2, Ending::signal, 23);
  resume_leg(parts, 1);
  EXPECT_EQ(difference(remains_of(parts), remains_of(whole)), "");
}

TEST_F(ForecastTaskTest, DrawsForecastsAndErrors) {
  const auto task = make_task(config());
  Page page("title", "");
  illustrate(task, page);
  const std::string html = page.html();
  EXPECT_EQ(xml_problem(html), "");
  for (const char* words : {"a from 1152000", "b from 1411200", "last value", "test split"})
    EXPECT_THAT(html, HasSubstr(words));
}

TEST_F(ForecastTaskTest, ResumesBitForBit) {
  const Config learning = config({"model.backbone=attention", "model.dropout=0.1",
                                  "model.head_dropout=0.1", "train.validate.every=20"});
  faults::CrashingStorage whole, parts;
  start_leg(whole, learning, 1);
  start_leg(parts, learning, 2, Ending::signal, 23);
  resume_leg(parts, 1);
  EXPECT_EQ(difference(remains_of(parts), remains_of(whole)), "");
}

TEST_F(ForecastTaskTest, ForecastsMoreRowsByRecursion) {
  const auto task = make_task(config({"model.loss=quantile", "model.quantiles=[0.1,0.5,0.9]"}));
  const NamedArray table = parse_csv(series_text(), "a.csv", hourly());
  ForecastsRows& rows_to_come = *task->learner().abilities().rows;
  rows_to_come.forecast_rows(H + 3);
  const NamedArray all = predict(task, table);
  ASSERT_EQ(all.values.shape()[0], H + 3);
  std::string appended = series_text();
  for (std::size_t h = 0; h < H; ++h)
    appended += fmt::format("{},{},{}\n", all.values(h, 0), all.values(h, 2), all.values(h, 5));
  rows_to_come.forecast_rows(3);
  const NamedArray next = predict(task, parse_csv(appended, "a.csv", hourly()));
  ASSERT_EQ(next.values.shape()[0], 3u);
  for (std::size_t h = 0; h < 3; ++h) {
    EXPECT_EQ(all.values(H + h, 0), next.values(h, 0));
    EXPECT_EQ(all.values(H + h, 2), next.values(h, 2));
    EXPECT_LE(all.values(H + h, 1), next.values(h, 1));
    EXPECT_GE(all.values(H + h, 3),
              all.values(H - 1, 3) - all.values(H - 1, 2) + all.values(H + h, 2) - 1e-3);
  }
}

TEST_F(ForecastTaskTest, RefusesRecursionWithCovariates) {
  const auto task = make_task(config({"data.calendar=['hour']"}));
  const NamedArray table = parse_csv(series_text(), "a.csv", hourly());
  task->learner().abilities().rows->forecast_rows(H + 1);
  EXPECT_THROW(predict(task, table), DataError);
  task->learner().abilities().rows->forecast_rows(H - 1);
  EXPECT_EQ(predict(task, table).values.shape()[0], H - 1);
}

}  // namespace forecast_task_test
}  // namespace bochner
