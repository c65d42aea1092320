#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/data/formats/array.hpp>
#include <bochner/data/formats/csv.hpp>
#include <cmath>

namespace bochner {
namespace array_test {

NamedArray table(const std::string& text) { return parse_csv(text, "a", {.missing = "nan"}); }

TEST(Summary, OfColumns) {
  const ArraySummary summary = summarize(table("a,b\n3,NA\n-1,NA\n1,NA\n"));
  ASSERT_EQ(summary.columns.size(), 2u);
  const ColumnSummary &a = summary.columns[0], &b = summary.columns[1];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.smallest, -1);
  EXPECT_EQ(a.largest, 3);
  EXPECT_EQ(a.mean, 1);
  EXPECT_EQ(a.missing, 0u);
  EXPECT_EQ(b.missing, 3u);
  EXPECT_EQ(b.present, 0u);
  EXPECT_FALSE(summary.time);
}

TEST(Summary, OfTimes) {
  const ArraySummary summary = summarize(table("x,t\n1,2016-07-01\n1,2016-07-03\n1,2016-07-02\n"));
  ASSERT_TRUE(summary.time);
  EXPECT_EQ(summary.time->name, "t");
  EXPECT_EQ(summary.time->first, 1467331200);
  EXPECT_EQ(summary.time->last, 1467331200 + 86400);
  EXPECT_EQ(summary.time->shortest_step, -86400);
  EXPECT_EQ(summary.time->longest_step, 2 * 86400);
  ASSERT_EQ(summary.columns.size(), 1u);
  EXPECT_EQ(summary.columns[0].name, "x");
}

TEST(Summary, OfOtherShapesIsOne) {
  const double large = 1e308;
  const ArraySummary summary = summarize({xt::xarray<double>{large, large, large}, {}});
  ASSERT_EQ(summary.columns.size(), 1u);
  EXPECT_EQ(summary.columns[0].mean, large);
  EXPECT_EQ(summarize({xt::xarray<double>::from_shape({0, 3}), {}}).columns[0].present, 0u);
  EXPECT_EQ(summarize({xt::xarray<double>(xt::zeros<double>({2, 65})), {}}).columns.size(), 1u);
}

}  // namespace array_test
}  // namespace bochner
