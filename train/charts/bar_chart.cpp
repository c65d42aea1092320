#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/canvas.hpp>
#include <bochner/train/charts/format.hpp>
#include <cmath>

namespace bochner {
namespace {

AxisLayout value_axis_of(const BarChart& chart) {
  Extent values;
  values.add({0.0}, Scale::linear);
  for (const BarSeries& series : chart.series)
    for (const auto* numbers : {&series.values, &series.low, &series.high})
      values.add(*numbers, Scale::linear);
  return AxisLayout({chart.label}, values.low, values.high);
}

void draw_bar(Canvas& canvas, const BarSeries& series, std::size_t group, int colour,
              const AxisLayout& axis, double x, double width) {
  if (group >= series.values.size() || !std::isfinite(series.values[group])) return;
  const double end = axis(series.values[group]), base = axis(0);
  canvas.raw(fmt::format(R"(<rect class="bar {}" x="{}" y="{}" width="{}" height="{}" rx="2"/>)",
                         colour_class(colour), coordinate(x), coordinate(std::min(end, base)),
                         coordinate(width), coordinate(std::max(0.5, std::fabs(end - base)))));
  if (group >= series.low.size() || group >= series.high.size()) return;
  if (!axis.has(series.low[group]) || !axis.has(series.high[group])) return;
  const double middle = x + width / 2;
  canvas.line(middle, axis(series.low[group]), middle, axis(series.high[group]), "whisker");
}

double widest_group(const BarChart& chart) {
  double widest = 0;
  for (const std::string& group : chart.groups) widest = std::max(widest, text_width(group));
  return widest;
}

/// Names below the axis, leaning where they would run into each other.
void name_group(Canvas& canvas, const std::string& name, double x, double y, bool leaning) {
  if (!leaning) return canvas.text(x, y + 18, name, "tick", "middle");
  canvas.raw(fmt::format(
      R"--(<text class="tick" transform="translate({} {}) rotate(-35)" text-anchor="end">{}</text>)--",
      coordinate(x + 4), coordinate(y + 14), escaped(name)));
}

}  // namespace

std::string draw(const BarChart& chart) {
  constexpr double width = 520, height = 300;
  Canvas canvas(width, height);
  std::vector<LegendEntry> entries;
  if (chart.series.size() > 1)
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      entries.push_back({chart.series[i].name, int(i), Mark::points});
  AxisLayout axis = value_axis_of(chart);
  const double top = canvas.header(chart.title, "", entries) + 26;
  const double left = Canvas::margin(axis), right = width - 14;
  const double pitch = (right - left) / double(std::max<std::size_t>(1, chart.groups.size()));
  const double widest = widest_group(chart);
  const bool leaning = widest > pitch - 6;
  const Rectangle plot{left, top, right, height - (leaning ? 18 + 0.57 * widest : 30)};
  axis.place(plot.bottom, plot.top);
  canvas.value_axis(axis, chart.label, plot);
  canvas.line(plot.left, axis(0), plot.right, axis(0), "base");
  const double bars = double(std::max<std::size_t>(1, chart.series.size()));
  const double wide = std::min(34.0, 0.72 * pitch / bars);
  for (std::size_t group = 0; group < chart.groups.size(); ++group) {
    const double middle = plot.left + (double(group) + 0.5) * pitch;
    name_group(canvas, chart.groups[group], middle, plot.bottom, leaning);
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      draw_bar(canvas, chart.series[i], group, int(i), axis,
               middle + (double(i) - bars / 2) * wide + 1, wide - 2);
  }
  return canvas.finish(chart.title);
}

}  // namespace bochner
