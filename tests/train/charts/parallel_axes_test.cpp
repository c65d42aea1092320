#include <gmock/gmock.h>

#include <bochner/train/charts/parallel_axes.hpp>
#include <cmath>

#include "train/well_formed.hpp"

namespace bochner {
namespace parallel_axes_test {

using testing::HasSubstr;
using testing::Not;

ParallelAxes example() {
  return {.title = "axes",
          .axes = {{"lr", Scale::logarithmic}, {"kind", Scale::linear, {"a", "<b>"}}, {"valid"}},
          .lines = {{{1e-3, 0, 2}, 7, false}, {{1e-2, 1, 1}, 1, true}}};
}

TEST(ParallelAxes, AreWellFormedWhateverStandsThere) {
  ParallelAxes chart = example();
  EXPECT_EQ(xml_problem(draw(chart)), "");
  chart.axes[0].label = "</svg> \x01\xff & a name that is much too long for its place ω";
  chart.axes[1].names[0] = chart.axes[0].label;
  EXPECT_EQ(xml_problem(draw(chart)), "");
  chart.lines.clear();
  EXPECT_EQ(xml_problem(draw(chart)), "");
  EXPECT_EQ(xml_problem(draw(ParallelAxes{.title = "none"})), "");
}

TEST(ParallelAxes, DrawALineThroughAllAxesTheStrongOnesLast) {
  const std::string svg = draw(example());
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;"));
  const std::size_t faint = svg.find("curve c7 faint"), strong = svg.find("curve c1\"");
  ASSERT_NE(faint, svg.npos);
  ASSERT_NE(strong, svg.npos);
  EXPECT_LT(faint, strong);
}

TEST(ParallelAxes, InterruptLinesWhereThereIsNoValue) {
  ParallelAxes chart = example();
  chart.lines = {{{1e-3, std::nan(""), 2}, 0, true}};
  const std::string svg = draw(chart);
  EXPECT_EQ(xml_problem(svg), "");
  const std::size_t begin = svg.find("curve c0");
  EXPECT_THAT(svg.substr(begin, svg.find("/>", begin) - begin), Not(HasSubstr("L")));
}

}  // namespace parallel_axes_test
}  // namespace bochner
