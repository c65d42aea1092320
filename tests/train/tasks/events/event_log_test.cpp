#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

#include "train/ask.hpp"
#include "train/tasks/events/clicks_fixture.hpp"
#include "train/training_run.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace event_log_test {

using testing::HasSubstr;

class EventLogTask : public clicks_fixture::ClicksTask {};

TEST_F(EventLogTask, StartsAtThePoissonProcessAndSaysWhetherItIsBetter) {
  const auto task = make_task(config());
  task->start();
  const Evaluation start = *evaluate_task(*task, Split::validation, 3);
  EXPECT_NEAR(start.loss(), start.mean("poisson_nats"), 0.15);
  EXPECT_THAT(task->verdict({Split::validation, 3}).words(),
              HasSubstr("a Poisson process of constant rate"));
}

/// Visits from 8 to 10 in the morning, of other types on Mondays.
std::string mornings(std::size_t days) {
  std::string text = "at,kind\n";
  for (std::size_t d = 0; d < days; ++d)
    for (std::size_t i = 0; i < 8; ++i)
      text += fmt::format("{},{}\n",
                          1700092800 + 86400 * d + 28800 + 900 * i + (i * 7919 + d * 104729) % 600,
                          d % 7 == 4 ? "monday" : "other");
  return text;
}

TEST_F(EventLogTask, FollowsTheCalendarOfDates) {
  const std::string file = folder_.write("mornings.csv", mornings(60)).string();
  const auto task_of = [&](const char* calendar) {
    const Config learning =
        config({"data.files=['" + file + "']", "data.sequence_column=", "data.time_format='%s'",
                "data.length=16", "optim.lr=0.01", "train.batch=8", "data.validation=0.2",
                std::string("model.calendar=") + calendar});
    auto task = make_task(learning);
    task->start();
    train(learning, *task, 100);
    return task;
  };
  const auto with = task_of("true"), without = task_of("false");
  const Evaluation seen = *evaluate_task(*with, Split::validation, 4),
                   blind = *evaluate_task(*without, Split::validation, 4);
  EXPECT_LT(seen.mean("poisson_nats"), blind.mean("poisson_nats") - 1);
  EXPECT_LT(seen.mean("time_nats"), blind.mean("time_nats") - 0.1);
  EXPECT_THAT(with->verdict({Split::validation, 4}).words(), HasSubstr("by hour of the week"));
  CsvOptions reading = tables(with).read_options().csv;
  const NamedArray next = predict(with, parse_csv("at,kind\n1705311000,monday\n", "q", reading));
  EXPECT_EQ(next.values(0, 0), 1705311000) << "Monday, 9:30";
  const double hour = std::fmod(next.values(0, 1), 86400) / 3600;
  EXPECT_GE(hour, 8);
  EXPECT_LE(hour, 10.2);
  EXPECT_GE(next.values(0, 2), next.values(0, 0));
  Page page("run", "model");
  illustrate(with, page);
  for (const char* shown : {"Waiting times", "hour of the day"})
    EXPECT_THAT(page.html(), HasSubstr(shown));
  EXPECT_EQ(xml_problem(page.html()), "");
}

TEST_F(EventLogTask, LearnsTimesWithoutTypes) {
  const auto task = make_task(config({"data.type_column="}));
  EXPECT_THAT(task->data().words(), HasSubstr("60 events of 1 type"));
  const NamedArray next = predict(task, read_array(file_, table_options(config())));
  EXPECT_THAT(next.columns,
              testing::ElementsAre("user", "at", "next_time_median", "next_time_mean", "type_0"));
  EXPECT_EQ(next.values(3, 4), 1);
}

TEST_F(EventLogTask, CountsUnknownTypesAsOthers) {
  const auto task = make_task(config());
  const NamedArray question{xt::xarray<double>{{0, 7, 0}, {30, 7, 9}, {60, 7, 1}},
                            {"at", "user", "kind"}};
  const NamedArray next = predict(task, question);
  EXPECT_THAT(tables(task).notes(),
              testing::ElementsAre("unknown types count as others: 1 of 3 events"));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isfinite(next.values(i, 2)));
  NamedArray known = question;
  known.values(1, 2) = 1;
  EXPECT_NE(predict(task, known).values(1, 4), next.values(1, 4));
  EXPECT_EQ(predict(task, known).values(0, 4), next.values(0, 4)) << "it sees no later event";
  EXPECT_THAT(tables(task).notes(), testing::IsEmpty());
}

}  // namespace event_log_test
}  // namespace bochner
