#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/base/errors.hpp>
#include <bochner/base/format.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/train/charts/canvas.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/json_columns.hpp>
#include <bochner/train/charts/page.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "data/messages.hpp"
#include "train/well_formed.hpp"

namespace bochner {
namespace report_test {

using testing::HasSubstr;
using testing::Not;

const double nan = std::numeric_limits<double>::quiet_NaN();
const double infinity = std::numeric_limits<double>::infinity();
const std::string hostile = "</svg><script>alert('1')</script> & \"a\" \x01\xff\xc3(\xf5 ω";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(WellFormed, CatchesWhatIsNot) {
  EXPECT_EQ(xml_problem("<a b=\"1\"><c/>x &amp; y</a>"), "");
  for (const char* bad : {"<a>", "<a></b>", "<a><b></a></b>", "<a b=1/>", "<a b=\"1\" b=\"2\"/>",
                          "<a>&</a>", "<a>&nbsp;</a>", "<a b=\"<\"/>", "<a>\x01</a>", "</a>", "<a"})
    EXPECT_NE(xml_problem(bad), "") << bad;
}

TEST(Markup, EscapesWhatXmlCannotHold) {
  EXPECT_EQ(escaped("a<b>&\"c\"'d'"), "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
  EXPECT_EQ(escaped("ω − 1\n"), "ω − 1\n");
  const std::string unknown = "\xef\xbf\xbd";
  EXPECT_EQ(escaped(std::string("\0\x1b", 2)), unknown + unknown);
  EXPECT_EQ(escaped("\xff"), unknown);
  EXPECT_EQ(escaped("\xc3("), unknown + "(");
  EXPECT_EQ(escaped("\xed\xa0\x80"), unknown + unknown + unknown) << "a surrogate";
  EXPECT_EQ(escaped("\xe0\x80\xaf"), unknown + unknown + unknown) << "longer than it need be";
  EXPECT_EQ(escaped("\xf0\x9f\x98"), unknown + unknown + unknown) << "cut off";
  EXPECT_EQ(escaped("\xef\xbf\xbf"), unknown + unknown + unknown) << "no character";
}

TEST(Markup, ShortensNumbers) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(-1.5), "−1.5");
  EXPECT_EQ(short_number(0.12345), "0.1235");
  EXPECT_EQ(short_number(1234), "1234");
  EXPECT_EQ(short_number(12345), "12.3k");
  EXPECT_EQ(short_number(4.5e6), "4.5M");
  EXPECT_EQ(short_number(1.23e-5), "1.2e-05");
  EXPECT_EQ(short_number(-infinity), "−∞");
  EXPECT_EQ(short_number(nan), "–");
}

std::vector<std::string> labels_of(const Axis& axis, double low, double high) {
  std::vector<std::string> labels;
  const AxisLayout layout(axis, low, high);
  for (const Tick& tick : layout.ticks())
    if (!tick.label.empty()) labels.push_back(tick.label);
  return labels;
}

TEST(Axis, HasRoundTicks) {
  EXPECT_THAT(labels_of({""}, 0, 1), testing::ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(labels_of({""}, -0.3, 0.42),
              testing::ElementsAre("−0.4", "−0.2", "0", "0.2", "0.4", "0.6"));
  EXPECT_THAT(labels_of({""}, 0, 2000), testing::ElementsAre("0", "500", "1000", "1500", "2000"));
  EXPECT_THAT(labels_of({"", Scale::logarithmic}, 1e-6, 1e2),
              testing::ElementsAre("10⁻⁶", "10⁻⁴", "0.01", "1", "100"));
}

TEST(Axis, ShowsEveryRangeWithSomeTicks) {
  for (const double low : {-1e300, -5.0, 0.0, 1e-300, 3.0, 1e6})
    for (const double span : {0.0, 1e-9, 1.0, 77.0, 1e12})
      for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
        const std::size_t ticks = AxisLayout({"", scale}, low, low + span).ticks().size();
        EXPECT_LE(ticks, 60u) << low << " " << span;
      }
}

// All data are on the other side of it.
TEST(Axis, StaysAtItsOneFixedEnd) {
  for (const Axis& axis : {Axis{"", Scale::logarithmic, 1e-4}, Axis{"", Scale::linear, 5.0},
                           Axis{"", Scale::linear, 0.0}}) {
    AxisLayout layout(axis, axis.scale == Scale::linear ? -3 : 1e-8, axis.lowest.value() / 2);
    layout.place(100, 200);
    EXPECT_NEAR(layout(axis.lowest.value()), 100, 1e-9);
    EXPECT_LT(layout(axis.lowest.value() + 1e-9), layout(axis.lowest.value() + 1));
    EXPECT_FALSE(layout.ticks().empty());
  }
  AxisLayout below({"", Scale::linear, {}, 2.0}, 4, 9);
  below.place(100, 200);
  EXPECT_NEAR(below(2), 200, 1e-9);
}

TEST(Axis, TellsItsTicksApart) {
  EXPECT_THAT(labels_of({""}, 12340, 12350),
              testing::ElementsAre("12340", "12342", "12344", "12346", "12348", "12350"));
  EXPECT_THAT(labels_of({""}, 1.2e6, 1.3e6),
              testing::ElementsAre("1.20M", "1.22M", "1.24M", "1.26M", "1.28M", "1.30M"));
  EXPECT_THAT(labels_of({""}, 0, 2e4), testing::ElementsAre("0", "5000", "10k", "15k", "20k"));
  for (const double low : {1e-6, 1.234e-5, 0.5, 123.0, 98765.0, 1.5e9, 7e13})
    for (const double part : {1e-6, 1e-3, 0.1, 3.0})
      for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
        const std::vector<std::string> labels = labels_of({"", scale}, low, low * (1 + part));
        EXPECT_GE(labels.size(), 2u) << low << " " << part;
        EXPECT_EQ(std::set(labels.begin(), labels.end()).size(), labels.size())
            << low << " " << part << ": " << testing::PrintToString(labels);
      }
}

TEST(Axis, HasTicksWhereNumbersLieBetweenTwoDigits) {
  EXPECT_THAT(labels_of({"", Scale::logarithmic, 1.41, 1.47}, 1.41, 1.47),
              testing::ElementsAre("1.41", "1.42", "1.43", "1.44", "1.45", "1.46", "1.47"));
}

TEST(Axis, OfTimeHasDates) {
  const auto dates = [](const char* from, const char* to) {
    return labels_of({"", Scale::time}, parse_time(from).value(), parse_time(to).value());
  };
  EXPECT_THAT(dates("2024-01-31", "2024-06-02"),
              testing::ElementsAre("2024-02", "2024-03", "2024-04", "2024-05", "2024-06"));
  EXPECT_THAT(dates("1999-05-01", "2003-02-01"),
              testing::ElementsAre("2000", "2001", "2002", "2003"));
  EXPECT_THAT(dates("2024-06-25 22:00", "2024-06-27 01:00"),
              testing::ElementsAre("06-26 00:00", "06-26 06:00", "06-26 12:00", "06-26 18:00",
                                   "06-27 00:00"));
  EXPECT_THAT(dates("2024-02-26", "2024-03-13"),
              testing::ElementsAre("2024-02-26", "2024-03-04", "2024-03-11"));
  EXPECT_GE(labels_of({"", Scale::time}, 1e15, 2e15).size(), 2u) << "no dates there";
}

TEST(Axis, GoesFromNumbersToPixels) {
  AxisLayout axis({"", Scale::logarithmic, 1.0, 100.0}, 1, 100);
  axis.place(50, 250);
  EXPECT_NEAR(axis(10), 150, 1e-9);
  EXPECT_NEAR(axis(1), 50, 1e-9);
  EXPECT_FALSE(axis.has(0));
  EXPECT_FALSE(axis.has(nan));
}

TEST(Charts, AreWellFormedWhateverTheyShow) {
  const Series wild{
      hostile, {0, 1, 2, 3, nan}, {nan, infinity, -1, 0, 5}, {0, 1, 2, nan}, {1, 2, 3, 4}};
  for (const Scale scale : {Scale::linear, Scale::logarithmic})
    for (const Mark mark :
         {Mark::line, Mark::dashed, Mark::points, Mark::line_and_points, Mark::ticks}) {
      Chart chart{.title = hostile, .x = {hostile, scale}, .y = {hostile, scale}, .series = {wild}};
      chart.series[0].mark = mark;
      EXPECT_EQ(xml_problem(draw(chart)), "");
      EXPECT_THAT(draw(chart), Not(HasSubstr("nan")));
      EXPECT_THAT(draw(chart), Not(HasSubstr("inf")));
      EXPECT_THAT(draw(chart), Not(HasSubstr("<script")));
    }
  EXPECT_EQ(xml_problem(draw(Chart{.title = "nothing"})), "");
  EXPECT_EQ(xml_problem(draw(BarChart{hostile, hostile, {hostile}, {{hostile, {nan}}}})), "");
  EXPECT_EQ(xml_problem(draw(BarChart{})), "");
  EXPECT_EQ(xml_problem(draw(HeatMap{hostile, hostile, hostile, 2, 2, {nan, 1, infinity, 0}})), "");
}

TEST(Charts, InterruptALineWhereThereIsNoNumber) {
  const Chart chart{.title = "", .series = {{"a", {0, 1, 2, 3, 4}, {1, 2, nan, 2, 1}}}};
  const std::string svg = draw(chart);
  const std::string path = svg.substr(svg.rfind("<path class=\"curve c0\""));
  EXPECT_EQ(count(path, "M"), 2u);
  EXPECT_EQ(count(path, "L"), 2u);
}

TEST(Charts, ShowACurveOfOnePoint) {
  const Chart chart{.title = "", .series = {{"a", {200}, {1.9}}}};
  EXPECT_EQ(count(draw(chart), "<circle class=\"dot c0\""), 1u);
}

TEST(Charts, ShowEachTickOnceInARowOfItsColour) {
  Chart chart{.title = "", .series = {{"a", {0, 1e-6, 1, 2}, {0, 0, 0, 0}}}};
  chart.series[0].mark = Mark::ticks;
  const std::string first = draw(chart);
  EXPECT_EQ(count(first, "v-5"), 3u);  // 0 and 1e-6 share a pixel
  chart.series[0].colour = 1;
  EXPECT_EQ(count(draw(chart), "v-5"), 3u);
  EXPECT_NE(draw(chart).substr(draw(chart).find(" d=\"M")), first.substr(first.find(" d=\"M")));
}

// Half of the points are about 0, as of a cloud of 1,000.
TEST(Charts, ThinCloudsEvenly) {
  Series series{"a", {}, {}};
  for (int i = 0; i < 4000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i % 4 < 2 ? 0 : i % 4 == 2 ? -1 : 1);
  }
  series.mark = Mark::points;
  Chart chart{.title = "", .series = {series}};
  const std::string svg = draw(chart);
  const std::size_t dots = count(svg, "<circle class=\"dot c0\"");
  EXPECT_GE(dots, 1000u);
  EXPECT_LE(dots, 1500u);
  const std::size_t end = svg.find(" r=\"2.4\""),
                    begin = svg.rfind("cy=", end);  // of the first one
  const std::string zero = svg.substr(begin, end - begin);
  EXPECT_NEAR(double(count(svg, zero)), double(dots) / 2, double(dots) / 10) << zero;
}

TEST(Charts, ThinLongCurvesAndKeepTheirPeaks) {
  Series series{"a", {}, {}};
  for (int i = 0; i < 100000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 54321 ? 10 : 0);
  }
  const std::string svg =
      draw(Chart{.title = "", .y = {"", Scale::linear, 0.0, 10.0}, .series = {series}});
  EXPECT_LT(svg.size(), 60000u);
  const std::string path = svg.substr(svg.rfind("<path class=\"curve"));
  EXPECT_EQ(count(path, " 228"), count(path, "L")) << "one point of the curve is not at the bottom";
}

TEST(JsonColumns, AreNumbersOfLinesUnderTheirNames) {
  const JsonColumns columns = read_json_columns(
      "{\"step\":2,\"loss\":1.5,\"kind\":\"x\",\"valid\":{\"loss\":3}}\n\n"
      "{\"loss\":-1e-3,\"step\":4,\"late\":7,\"list\":[1]}\n{\"ste",
      "f");
  EXPECT_EQ(columns.names, (std::vector<std::string>{"step", "loss", "valid.loss", "late"}));
  EXPECT_EQ(columns.lines, 2u);
  ASSERT_EQ(columns.values[1].size(), 2u);
  EXPECT_EQ(columns.values[1][1].value, -1e-3);
  ASSERT_EQ(columns.values[3].size(), 1u);
  EXPECT_EQ(columns.values[3][0].line, 1u);
  const Chart late = chart_of(columns, 0, 3), by_line = chart_of(columns, {}, 1);
  EXPECT_EQ(late.series[0].x, std::vector<double>{4});
  EXPECT_EQ(by_line.series[0].x, (std::vector<double>{1, 2}));
  for (const auto& [text, words] : {std::pair{"{\"a\":1}\n[1]\n", "f:2: not a JSON object"},
                                    {"{\"a\":\"b\"}\n", "f: holds no numbers"},
                                    {"", "f: holds no numbers"}})
    EXPECT_THAT(message_of<DataError>([&] { read_json_columns(text, "f"); }), HasSubstr(words));
}

TEST(JsonColumns, OfANameALineAreRefused) {
  std::string text;
  for (std::size_t i = 0; i <= most_json_columns; ++i) text += fmt::format("{{\"k{}\":1}}\n", i);
  EXPECT_THAT(message_of<DataError>([&] { read_json_columns(text, "f"); }),
              HasSubstr("f: more than 10000 names of numbers"));
}

TEST(Picture, IsAPngOfItsSize) {
  const std::string data = png_data({0, 100, 254, blank_pixel, 7, 8}, 2, 3);
  // Signature, IHDR of 3 x 2 pixels, 8 bits, colour table; checksum from a PNG of another program.
  EXPECT_THAT(
      data, testing::StartsWith(
                "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAMAAACqqpYoAAADAFBMVEUa"));
}

TEST(Picture, OfDifferencesIsWhiteAtZeroWhateverItsEnds) {
  HeatMap map{"error", "", "", 1, 3, {-1, 0, 3}};
  const std::string one_way = draw(map);
  map.colours = Colours::diverging;
  const std::string both_ways = draw(map);
  EXPECT_THAT(one_way, HasSubstr(">−1<"));
  EXPECT_THAT(both_ways, HasSubstr(">−3<"));
  EXPECT_THAT(both_ways, HasSubstr(png_data({85, 127, 254}, 1, 3, Colours::diverging)));
  EXPECT_NE(png_data({127}, 1, 1), png_data({127}, 1, 1, Colours::diverging));
}

TEST(Picture, OutlinesAValue) {
  HeatMap map{"", "", "", 2, 4, std::vector<double>(8)};
  EXPECT_EQ(draw(map).find("outline"), std::string::npos);
  map.outlined = 5;
  const std::string svg = draw(map);
  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_EQ(count(svg, "class=\"outline"), 2u);
  const double quarter = (heat_map_width - 22) / 4;  // the map ends 18 and 4 pixels from the sides
  EXPECT_THAT(svg, HasSubstr(fmt::format("x=\"{}\"", coordinate(18 + quarter))));
}

TEST(Picture, IsCompressed) {
  EXPECT_LT(png_data(std::vector<std::uint8_t>(500 * 500, 7), 500, 500).size(), 4000u);
}

/// On a page of any width, a phone's too: cards have a scroll bar then.
TEST(Page, ShowsNoTextOfLessThanTenPixels) {
  const std::string html = Page("", "").html();
  EXPECT_THAT(html, HasSubstr("svg text{font-family:inherit;font-size:11.5px;"));
  EXPECT_THAT(html, HasSubstr("overflow-x:auto"));
  for (const double width : {250.0, 380.0, 520.0}) {
    const std::string svg = draw(Chart{.title = "", .width = width}), before = "min-width:";
    const double smallest = std::stod(svg.substr(svg.find(before) + before.size()));
    EXPECT_GE(11.5 * smallest / width, 10);
    EXPECT_GE(card_width(width), smallest + 36) << "padding and border";
  }
}

TEST(Markdown, KeepsBarsWithinTheirCells) {
  EXPECT_EQ(markdown({{"a|b", "c"}, {{"1", "d || e"}}}),
            "| a\\|b | c |\n| --- | --- |\n| 1 | d \\|\\| e |\n");
}

TEST(Page, IsWellFormedAndNeedsNothingElse) {
  Page page(hostile, hostile);
  page.section(hostile, hostile);
  page.figures({{hostile, hostile}});
  page.table({{hostile, "b"}, {{"1", hostile}}});
  page.charts({draw(Chart{.title = hostile})});
  const std::string html = page.html();
  EXPECT_EQ(xml_problem(html), "");
  for (const char* outside : {"<script", "src=", "@import", "url(", "href=\"http"})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

}  // namespace report_test
}  // namespace bochner
