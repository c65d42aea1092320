#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>
#include <numbers>

#include "data/messages.hpp"
#include "faults/crashing_storage.hpp"
#include "train/ask.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace forecast_series_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t L = 14, H = 7;

double noise(std::size_t shop, std::size_t day) {
  return RandomFunction{3, Purpose::test, shop}.normal(day);
}
double price(std::size_t shop, std::size_t day) {
  return RandomFunction{4, Purpose::test, shop}.uniform(day) < 0.3 ? 1 : 2;
}
/// Cheap days sell more, each shop in its own unit.
double sales(std::size_t shop, std::size_t day) {
  const double unit = shop == 0 ? 1 : 100;
  return unit * (10 + 3 * std::sin(2 * std::numbers::pi * double(day) / 7) +
                 (price(shop, day) == 1 ? 4 : 0) + 0.5 * noise(shop, day));
}

constexpr const char* header = "date,shop,sales,price\n";
const std::vector<std::string> shops = {"north", "south 1"};

/// Days first, ..., last - 1 of a shop; from `asked` on without sales.
std::string days(std::size_t shop, std::size_t first, std::size_t last, std::size_t asked = 9999) {
  std::string text;
  for (std::size_t day = first; day < last; ++day)
    text += fmt::format("{},{},{},{}\n", format_time(86400.0 * double(19723 + day)), shops[shop],
                        day < asked ? fmt::format("{}", sales(shop, day)) : "", price(shop, day));
  return text;
}

std::vector<std::string> shop_sets() {
  return {"model.kind=forecaster", "data.kind=series", "data.columns=[\"sales\"]",
          "data.series=shop",      "data.known=price", "data.time_column=date",
          "data.lookback=14",      "data.horizon=7",   "model.instance_norm=mean",
          "train.batch=32",        "optim.lr=1e-2",    "optim.weight_decay=0"};
}

class ForecastShops : public testing::Test {
 protected:
  Config config(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> sets = shop_sets();
    sets.insert(sets.end(), more.begin(), more.end());
    return tiny_config(file_, sets);
  }
  /// As `predict` reads it.
  NamedArray table(const std::string& rows) const {
    return parse_csv(header + rows, "input", table_options(config()).csv);
  }
  TemporaryFolder folder_;
  std::filesystem::path file_ =
      folder_.write("shops.csv", header + days(0, 0, 300) + days(1, 0, 200));
};

double test_error(const Config& config) {
  const auto task = make_task(config);
  train(config, *task, 250);
  return evaluate_task(*task, Split::test, 64)->mean("mse");
}

TEST_F(ForecastShops, SaysWhatItLearnsFromWhat) {
  const auto task = make_task(config({"data.calendar=[\"weekday\"]"}));
  EXPECT_THAT(task->data().words(), HasSubstr("2 series of 1 variate, 500 rows, 3 covariates"));
  EXPECT_EQ(describe_model(task), "forecaster, linear, mean, effects of 3, 7 from 14 rows");
  EXPECT_THAT(tables(task).input_columns(), ElementsAre("sales", "shop", "price"));
}

TEST_F(ForecastShops, LearnsWhatAPriceDoes) {
  EXPECT_LT(test_error(config()), 0.4 * test_error(config({"data.known=[]", "data.static=[]"})));
}

TEST_F(ForecastShops, WritesTheSeriesBack) {
  const auto task = make_task(config());
  const NamedArray next = predict(task, table(days(1, 180, 203, 200) + days(0, 200, 227, 220)));
  EXPECT_THAT(next.columns, ElementsAre("shop", "date", "sales"));
  ASSERT_EQ(next.values.shape()[0], 3u + 7u);
  std::string text;
  write_csv(next, [&](std::string_view piece) { text += piece; });
  EXPECT_THAT(text, HasSubstr("shop,date,sales\nsouth 1,2024-07-19 00:00:00,"));
  EXPECT_THAT(text, HasSubstr("\nnorth,2024-08-08 00:00:00,"));
}

/// Forecasts of a shop do not depend on other shops in the table.
TEST_F(ForecastShops, OneSeriesDoesNotSeeAnother) {
  const auto task = make_task(config());
  const NamedArray both = predict(task, table(days(1, 180, 207, 200) + days(0, 200, 227, 220))),
                   one = predict(task, table(days(0, 200, 227, 220)));
  for (std::size_t h = 0; h < H; ++h) EXPECT_EQ(both.values(H + h, 2), one.values(h, 2));
}

/// Forecasts depend on known columns of future rows, not on targets there or in other windows.
TEST_F(ForecastShops, NothingLeaksFromWhatIsToCome) {
  for (const char* backbone : {"linear", "attention", "rows"}) {
    SCOPED_TRACE(backbone);
    std::vector<std::string> sets = {std::string("model.backbone=") + backbone,
                                     "model.series_width=2", "data.splits=[100,50,50]"};
    if (sets[0] == "model.backbone=attention")
      sets.insert(sets.end(), {"model.patch.length=4", "model.patch.stride=2"});
    const auto outputs = [&](const std::string& text) {
      folder_.write("shops.csv", header + text);
      const Config learning = config(sets);
      const auto task = make_task(learning);
      train(learning, *task, 5);
      return task->arrays(task->data().in_order(Split::test, 0, 1)).at(2).second;
    };
    const std::string before = days(0, 0, 150), after = days(0, 150, 200);
    const auto with = [&](std::size_t column, const char* value) {
      std::string text;
      for (std::size_t day = 150; day < 200; ++day) {
        std::string row = days(0, day, day + 1);
        std::size_t begin = 0;
        for (std::size_t i = 0; i < column; ++i) begin = row.find(',', begin) + 1;
        row.replace(begin, row.find_first_of(",\n", begin) - begin, value);
        text += row;
      }
      return text;
    };
    const auto plain = outputs(before + after);
    EXPECT_EQ(outputs(before + with(2, "77")), plain);
    EXPECT_NE(outputs(before + with(3, "5")), plain);
  }
}

TEST_F(ForecastShops, AsksForWhatIsKnownOfTheRowsToCome) {
  const auto task = make_task(config());
  const auto error = [&](const std::string& rows) {
    return message_of<DataError>([&] { predict(task, table(rows)); });
  };
  EXPECT_EQ(
      error(days(0, 200, 220) + days(1, 100, 120)),
      "the input has no future rows with the known columns: append up to 7 rows of \"north\", "
      "\"south 1\", with their time and price, and leave the forecast columns empty");
  EXPECT_EQ(error(days(0, 200, 221, 220) + "2024-08-09,north,,\n"),
            "row 22, column price: is missing; columns of data.known need values in future rows "
            "too");
  EXPECT_EQ(error("2024-01-01,west,1,2\n2024-01-01,east,1,2\n"),
            "the model does not know the series \"west\", \"east\"; it was trained on \"north\", "
            "\"south 1\"");
  EXPECT_EQ(
      error(days(0, 200, 212, 210) + days(1, 100, 110, 109)),
      "the input has 10 rows of \"north\", 9 rows of \"south 1\"; the model needs at least 14");
}

/// Other requests are answered.
TEST_F(ForecastShops, LeavesOutWhatCannotBeAnswered) {
  const std::string third = "2024-06-01,west,5,1\n2024-06-02,west,,1\n";
  folder_.write("shops.csv", header + days(0, 0, 300) + days(1, 0, 200) + third);
  const auto task = make_task(config());
  NamedArray next = predict(task, table(days(0, 200, 220) + days(1, 100, 122, 120) + third));
  EXPECT_EQ(next.values.shape()[0], 2u);
  EXPECT_THAT(
      tables(task).notes(),
      ElementsAre("skipped \"west\": too short to train on",
                  "skipped \"north\": the input has no future rows with their known columns"));
  next = predict(task, table(days(1, 100, 122, 120)));
  EXPECT_THAT(tables(task).notes(), testing::IsEmpty());
  EXPECT_EQ(
      message_of<DataError>([&] { predict(task, table(third)); }),
      "the model does not know the series \"west\"; it was trained on \"north\", \"south 1\"");
  EXPECT_THAT(message_of<DataError>(
                  [&] { predict(task, table(days(0, 200, 222, 220) + "2024-06-01,east,5,1\n")); }),
              HasSubstr("the model does not know the series \"east\""));
}

/// Training ignores future rows of its file.
TEST_F(ForecastShops, TakesAFileThatEndsInRowsToCome) {
  const auto words = make_task(config())->data().words();
  folder_.write("shops.csv", header + days(0, 0, 307, 300) + days(1, 0, 207, 200));
  EXPECT_EQ(make_task(config())->data().words(), words);
}

TEST_F(ForecastShops, MissingValuesAreThoseOfTheRowBeforeInTheSeries) {
  std::string rows = header;
  for (std::size_t day = 0; day < 200; ++day)
    rows += days(0, day, day + 1) + days(1, day, day + 1, 150);
  folder_.write("shops.csv", rows);
  const auto task = make_task(config({"data.missing=forward", "data.known=[]"}));
  EXPECT_THAT(task->data().words(), HasSubstr("2 series of 1 variate, 400 rows"));
  EXPECT_THAT(message_of<DataError>([&] { make_task(config({"data.known=[]"})); }),
              HasSubstr("set data.missing = \"forward\" to repeat the value before it"));
}

TEST_F(ForecastShops, KeysThatDoNotFitAreRefused) {
  const auto error = [&](const std::vector<std::string>& sets) {
    return message_of<ConfigError>([&] { config(sets); });
  };
  EXPECT_THAT(
      error({"data.known=sales"}),
      HasSubstr("data.known = [\"sales\"]: names \"sales\", which has another role already"));
  EXPECT_THAT(error({"data.calendar=year"}), HasSubstr("data.calendar"));
  EXPECT_THAT(error({"model.quantiles=[0.2,0.8]"}),
              HasSubstr("model.quantiles has no effect with model.loss = \"mse\"; remove it"));
  EXPECT_THAT(error({"model.loss=quantile", "model.quantiles=[0.5,0.5]"}),
              HasSubstr("must ascend between 0 and 1"));
  EXPECT_THAT(error({"model.loss=quantile", "model.instance_norm.affine=true"}),
              HasSubstr("a negative gain reverses quantiles"));
}

TEST_F(ForecastShops, QuantilesAreWhereTheirPartsLieBelow) {
  const Config learning = config({"model.loss=quantile", "model.quantiles=[0.1,0.5,0.9]"});
  const auto task = make_task(learning);
  train(learning, *task, 400);
  const Evaluation result = *evaluate_task(*task, Split::test, 64);
  EXPECT_EQ(result.unit, "pinball");
  EXPECT_NEAR(result.mean("coverage"), 0.8, 0.12);
  EXPECT_THAT(result.words(), HasSubstr("% within 0.1 to 0.9"));
  const NamedArray next = predict(task, table(days(0, 200, 227, 220)));
  EXPECT_THAT(next.columns, ElementsAre("shop", "date", "sales_0.1", "sales_0.5", "sales_0.9"));
  for (std::size_t h = 0; h < H; ++h) {
    EXPECT_LT(next.values(h, 2), next.values(h, 3));
    EXPECT_LT(next.values(h, 3), next.values(h, 4));
  }
  Page page("title", "");
  illustrate(task, page);
  EXPECT_EQ(xml_problem(page.html()), "");
  EXPECT_THAT(page.html(), HasSubstr("sales of north from 2024-"));
}

TEST_F(ForecastShops, ResumesBitForBit) {
  const Config learning =
      config({"model.loss=quantile", "data.calendar=weekday", "model.series_width=2",
              "model.backbone=attention", "model.patch.length=4", "train.validate.every=20"});
  faults::CrashingStorage whole, parts;
  start_leg(whole, learning, 1);
  start_leg(parts, learning, 2, Ending::signal, 23);
  resume_leg(parts, 1);
  EXPECT_EQ(difference(remains_of(parts), remains_of(whole)), "");
}

/// The model assumes equal steps between rows.
TEST_F(ForecastShops, SeesNoRowsAcrossAGap) {
  const auto task = make_task(config({"data.known=[]"}));
  const auto error = [&](const std::string& rows) {
    return message_of<DataError>([&] { predict(task, table(rows)); });
  };
  EXPECT_EQ(error(days(0, 180, 200) + days(0, 204, 210)),
            "the input has no row of north between 2024-07-18 00:00:00 and 2024-07-23 00:00:00, "
            "within the last 14 rows; the model learned rows 1 day apart; data.pause = 0 allows "
            "any step");
  EXPECT_NO_THROW(predict(task, table(days(0, 150, 160) + days(0, 180, 200))));
  std::string thinned;
  for (std::size_t day = 100; day < 200; day += 2) thinned += days(0, day, day + 1);
  EXPECT_THAT(error(thinned), HasSubstr("the model learned rows 1 day apart"));
  std::string often;
  for (std::size_t i = 0; i < 20; ++i)
    often += format_time(86400.0 * 19900 + 43200.0 * double(i)) + ",north,5,1\n";
  EXPECT_EQ(error(often),
            "the input's last 14 rows of north are closer together than in training: 1 day apart; "
            "data.pause = 0 allows any step");
  EXPECT_EQ(
      error(days(0, 180, 200) + days(0, 202, 203, 202)),
      "the row to forecast at 2024-07-21 00:00:00 is not the next one after 2024-07-18 "
      "00:00:00 of north; the model learned rows 1 day apart; data.pause = 0 allows any step");
  const auto lenient = make_task(config({"data.known=[]", "data.pause=0"}));
  EXPECT_NO_THROW(predict(lenient, table(days(0, 180, 200) + days(0, 204, 210))));
}

/// Rows without values at the end ask for forecasts, with or without covariates.
TEST_F(ForecastShops, RowsWithoutValuesAreToCome) {
  for (const char* missing : {"refuse", "forward"}) {
    const auto task = make_task(config({"data.known=[]", fmt::format("data.missing={}", missing)}));
    const auto read = [&](const std::string& rows) {
      ReadOptions reading = tables(task).read_options();
      reading.csv.named_columns = tables(task).input_columns();
      return parse_csv(header + rows, "input", reading.csv);
    };
    const NamedArray all = predict(task, read(days(0, 180, 200))),
                     two = predict(task, read(days(0, 180, 202, 200)));
    ASSERT_EQ(all.values.shape()[0], H);
    ASSERT_EQ(two.values.shape()[0], 2u);
    for (std::size_t column = 1; column < 3; ++column)
      EXPECT_EQ(two.values(1, column), all.values(1, column)) << missing;
    EXPECT_EQ(message_of<DataError>([&] { predict(task, read(days(0, 180, 208, 200))); }),
              "the input asks for 8 rows; the model forecasts at most 7");
  }
}

TEST_F(ForecastShops, TakesNoNumberBeyondItsOwn) {
  const auto task = make_task(config({"data.known=[]"}));
  EXPECT_EQ(message_of<DataError>(
                [&] { predict(task, table(days(0, 180, 199) + "2024-07-18,north,1e39,1\n")); }),
            "row 20, column sales: 1e+39 exceeds the range of float32");
}

/// A model with zero weights forecasts the mean of the requested series.
TEST_F(ForecastShops, AnswersInTheUnitOfEachSeries) {
  const auto task = make_task(config({"model.instance_norm=none"}));
  for (const NamedParameter& named : parameters_of(task->model())) named.parameter->value().fill(0);
  const NamedArray next = predict(task, table(days(1, 180, 207, 200) + days(0, 200, 227, 220)));
  EXPECT_NEAR(next.values(0, 2), 1100, 100);
  EXPECT_NEAR(next.values(H, 2), 11, 1);
}

TEST_F(ForecastShops, AnswersWithoutItsData) {
  const Config config = this->config({"data.calendar=[\"weekday\"]", "model.loss=quantile"});
  const auto task = make_task(config);
  std::filesystem::remove(file_);
  const auto learner = without_data(config, task);
  const NamedArray question = table(days(1, 180, 203, 200) + days(0, 200, 227, 220)),
                   next = learner->abilities().tables->predict(question);
  EXPECT_EQ(next.values, predict(task, question).values);
  EXPECT_EQ(next.columns, predict(task, question).columns);
  EXPECT_EQ(learner->describe(), describe_model(task));
  EXPECT_THAT(learner->series(), ElementsAre("north", "south 1"));
  EXPECT_EQ(learner->facts(), task->learner().facts());
  Tape tape({.recording = false});
  ASSERT_EQ(learner->abilities().specimens->specimens(), 16u);
  EXPECT_NO_THROW(learner->abilities().specimens->forward_specimen(tape, 15));
}

/// Steps between rows are those of the training data.
TEST_F(ForecastShops, KnowsItsStepsWithoutItsData) {
  const Config config = this->config({"data.known=[]"});
  const auto task = make_task(config);
  const auto learner = without_data(config, task);
  const auto problem = [&](Learner& asked) {
    return message_of<DataError>(
        [&] { asked.abilities().tables->predict(table(days(0, 180, 200) + days(0, 204, 210))); });
  };
  EXPECT_EQ(problem(*learner), problem(task->learner()));
}

TEST_F(ForecastShops, NumbersItsSeriesAsTheKnownFactsDo) {
  const std::string facts = make_task(config())->learner().facts();
  folder_.write("shops.csv", header + days(1, 0, 200) + days(0, 0, 300));
  EXPECT_THAT(make_task(config())->learner().series(), ElementsAre("south 1", "north"));
  const auto resumed = make_task(config(), {.bytes = facts});
  EXPECT_EQ(resumed->learner().facts(), facts);
  folder_.write("shops.csv", header + days(1, 0, 200));
  EXPECT_THAT(message_of<DataError>([&] { make_task(config(), {.bytes = facts}); }),
              HasSubstr("for the series \"north\""));
}

TEST_F(ForecastShops, RefusesDamagedFacts) {
  const Config config = this->config();
  const auto facts = decode_facts<SeriesFacts>(make_task(config)->learner().facts());
  expect_refuses_damaged_facts(config, encode_facts(facts));
  const auto refuses = [&](const auto& change) {
    SeriesFacts damaged = facts;
    change(damaged);
    EXPECT_THROW(make_learner(config, {.bytes = encode_facts(damaged)}), DataError);
  };
  refuses([](SeriesFacts& damaged) { damaged.variates = 0; });
  refuses([](SeriesFacts& damaged) { damaged.variates = std::uint64_t(1) << 60; });
  refuses([](SeriesFacts& damaged) { damaged.lookback = damaged.horizon = 1 << 20; });
  refuses([](SeriesFacts& damaged) { damaged.columns.push_back("another"); });
  refuses([](SeriesFacts& damaged) { damaged.ids.pop_back(); });
  refuses([](SeriesFacts& damaged) { damaged.ids[0].clear(); });
  refuses([](SeriesFacts& damaged) { damaged.step_of[0] = 7; });
  refuses([](SeriesFacts& damaged) { damaged.specimens[0].series = {2}; });
  refuses([](SeriesFacts& damaged) { damaged.specimens[0].past = zeros({1, 1, 1}); });
}

}  // namespace forecast_series_test
}  // namespace bochner
