#include <gmock/gmock.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/formats/csv.hpp>
#include <bochner/data/tables/table_rows.hpp>
#include <cmath>
#include <set>

#include "data/messages.hpp"

namespace bochner {
namespace table_rows_test {

using testing::ElementsAre;
using testing::HasSubstr;

NamedArray csv_of(const std::string& text) { return parse_csv(text, "t.csv", {.missing = "nan"}); }

RegressionTable table_of(const std::string& text, const TableColumns& columns = {}) {
  return regression_table(csv_of(text), columns);
}

std::string numbered(std::size_t rows) {
  std::string text = "x,y\n";
  for (std::size_t i = 0; i < rows; ++i)
    text += std::to_string(i) + "," + std::to_string(10 * i) + "\n";
  return text;
}

TEST(RegressionTable, TakesTheLastColumnForTheTarget) {
  const RegressionTable table = table_of("a,b,c\n1,2,3\n4,5,NA\n");
  EXPECT_THAT(table.inputs, ElementsAre("a", "b"));
  EXPECT_EQ(table.target, "c");
  EXPECT_THAT(table.observations.inputs[1], ElementsAre(2, 5));
  EXPECT_EQ(table.observations.targets[0], 3);
  EXPECT_TRUE(std::isnan(table.observations.targets[1]));
}

TEST(RegressionTable, TakesColumnsByNameOrNumber) {
  const RegressionTable table = table_of("a,b,c\n1,2,3\n4,5,6\n", {{"3", "a"}, "b"});
  EXPECT_THAT(table.inputs, ElementsAre("c", "a"));
  EXPECT_THAT(table.observations.inputs[0], ElementsAre(3, 6));
  EXPECT_THAT(table.observations.targets, ElementsAre(2, 5));
}

TEST(RegressionTable, KeepsTimeStampsAsSeconds) {
  const RegressionTable table = table_of("x,when,y\n7,1970-01-02,1\n8,1970-01-03,2\n");
  EXPECT_EQ(table.time, 1u);
  EXPECT_THAT(table.observations.inputs[1], ElementsAre(86400, 172800));
}

TEST(RegressionTable, RefusesWhatItCannotRead) {
  const auto error = [](const std::string& text, const TableColumns& columns = {}) {
    return message_of<DataError>([&] { table_of(text, columns); });
  };
  EXPECT_EQ(error("a,b\n1,2\nNA,3\n"), "row 2: column a: no input may be missing");
  EXPECT_THAT(error("a,b\n1,2\n", {{"q"}, ""}), HasSubstr("no column \"q\""));
  EXPECT_THAT(error("a,b\n1,2\n", {{"b"}, "b"}), HasSubstr("column b is chosen twice"));
  EXPECT_THAT(error("a,b\n1,2\n", {{"a", "1"}, "b"}), HasSubstr("column a is chosen twice"));
  EXPECT_THAT(error("b\n1\n"), HasSubstr("no column of inputs next to the target"));
  EXPECT_THAT(
      error("a,b\n1,2\n2,1e300\n"),
      HasSubstr("row 2: column \"b\" holds a number too large to be squared; scale the column"));
  EXPECT_THAT(
      error("a,b\n1,2\n-1e200,1\n"),
      HasSubstr("row 2: column \"a\" holds a number too large to be squared; scale the column"));
  EXPECT_THAT(message_of<DataError>([] { csv_of("a,b\n1,2\n1,x\n"); }), HasSubstr("t.csv:3:3"));
  EXPECT_THAT(message_of<DataError>([] { TableRows(table_of("a,b\n1,2\n3,NA\n"), {}); }),
              HasSubstr("column b: needs at least two known values to train on, not 1"));
  EXPECT_THAT(message_of<DataError>([] { TableRows(table_of(numbered(9)), {.rows = 9}); }),
              HasSubstr("data.rows = 9: there are 8 rows to train"));
}

TEST(RegressionTable, OfSeveralFilesIsOne) {
  const RegressionTable all = merged({table_of("a,b\n1,2\n"), table_of("a,b\n3,4\n")});
  EXPECT_THAT(all.observations.inputs[0], ElementsAre(1, 3));
  EXPECT_THAT(all.observations.targets, ElementsAre(2, 4));
}

TEST(RegressionTable, OfSeveralFilesHasTheSameColumns) {
  const auto error = [](const std::string& first, const std::string& second) {
    return message_of<DataError>([&] {
      RegressionTable a = table_of(first), b = table_of(second);
      a.file = "a.csv";
      b.file = "b.csv";
      merged({a, b});
    });
  };
  EXPECT_THAT(error("x,y\n1,2\n", "y,x\n1,2\n"),
              HasSubstr("b.csv: columns \"y\" to \"x\", but those of a.csv are \"x\" to \"y\""));
  EXPECT_THAT(error("a,b\n1,2\n", "a,b,c\n1,2,3\n"), HasSubstr("\"a\", \"b\" to \"c\""));
  EXPECT_THAT(error("t,y\n1970-01-02,2\n", "t,y\n1,2\n"), HasSubstr("\"t\" (dates) to \"y\""));
}

/// Holds even if the mean of equal numbers is inexact.
TEST(ColumnUnit, OfEqualNumbersIsOne) {
  const ColumnUnit unit = unit_of(std::vector<double>(9, 0.1));
  EXPECT_EQ(unit.mean, 0.1);
  EXPECT_EQ(unit.deviation, 1);
}

TEST(TableRows, MeasureInUnitsOfTheTrainingRows) {
  const TableRows rows(table_of(numbered(10)), {.validation = 0.2, .held_out = "last"});
  EXPECT_EQ(rows.units()[0].mean, 3.5);
  EXPECT_EQ(rows.units(), rows.training_units());
  EXPECT_NEAR(rows.units()[0].deviation, std::sqrt(5.25), 1e-15);
  EXPECT_NEAR(rows.held_rows().targets[0], 4.5 / std::sqrt(5.25), 1e-12);
  EXPECT_EQ(rows.words(), "1 input to y, 10 rows  ·  8 rows to train, 2 to validate");
  EXPECT_EQ(rows.examples(Split::train), 1u);
  EXPECT_EQ(rows.examples(Split::validation), 1u);
  EXPECT_EQ(rows.tokens_per_example(), 8u);
}

TEST(TableRows, MeasureInUnitsThatTheyAreGiven) {
  TableRows rows(table_of(numbered(10)), {.validation = 0.2, .held_out = "last"});
  const std::vector<ColumnUnit> own = rows.training_units(), given{{1, 2}, {10, 5}};
  rows.set_units(given);
  EXPECT_EQ(rows.units(), given);
  EXPECT_EQ(rows.training_units(), own);
  EXPECT_EQ(rows.training_rows().inputs[0][7], 3);
  EXPECT_EQ(rows.held_rows().targets[1], 16);
  EXPECT_EQ(rows.example(Split::validation, {0, 0}).targets[1], 16);
  EXPECT_EQ(rows.standardized({{{5}}, {}}).inputs[0][0], 2);
}

TEST(TableRows, PassOverRowsWithoutTarget) {
  const TableRows rows(table_of("x,y\n1,1\n2,NA\n3,3\n4,4\n"), {.validation = 0});
  EXPECT_EQ(rows.training_rows().size(), 3u);
  EXPECT_EQ(rows.examples(Split::validation), 0u);
}

/// Each row occurs once: for training or held out, and once per epoch.
TEST(TableRows, ArePartedAtRandomAndDrawnAnewInEachEpoch) {
  const TableRows rows(table_of(numbered(100)), {.validation = 0.2, .rows = 20, .seed = 3});
  std::multiset<double> all(rows.held_rows().inputs[0].begin(), rows.held_rows().inputs[0].end());
  EXPECT_EQ(all.size(), 20u);
  EXPECT_LT(*all.begin(), 0) << "not the last ones only";
  std::vector<double> first;
  for (const std::uint64_t epoch : {0, 1}) {
    std::vector<double> seen;
    for (std::uint64_t i = 0; i < 4; ++i) {
      const Observations part = rows.example(Split::train, {i, epoch});
      EXPECT_EQ(part.size(), 20u);
      seen.insert(seen.end(), part.inputs[0].begin(), part.inputs[0].end());
    }
    EXPECT_NE(seen, first);
    first = seen;
    std::ranges::sort(seen);
    std::vector<double> training = rows.training_rows().inputs[0];
    EXPECT_EQ(seen, training);
  }
}

TEST(TableRows, HaveFingerprintsOfTheirOwn) {
  std::set<std::uint64_t> prints;
  for (const TableSpec& spec :
       {TableSpec{}, TableSpec{.validation = 0.3}, TableSpec{.held_out = "last"},
        TableSpec{.rows = 5}, TableSpec{.seed = 2}})
    prints.insert(TableRows(table_of(numbered(20)), spec).fingerprint());
  prints.insert(TableRows(table_of(numbered(21)), {}).fingerprint());
  EXPECT_EQ(prints.size(), 6u);
}

TEST(TableRows, OfConstantsHaveAUnitStill) { EXPECT_EQ(unit_of({3, 3}).standard(4), 1); }

}  // namespace table_rows_test
}  // namespace bochner
