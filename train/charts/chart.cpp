#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/ceil_div.hpp>
#include <bochner/base/format.hpp>
#include <bochner/train/charts/canvas.hpp>
#include <cmath>
#include <set>

namespace bochner {
namespace {

constexpr std::size_t most_points = 1500;

struct Axes {
  AxisLayout x, y;
  bool has(double a, double b) const { return x.has(a) && y.has(b); }
  std::string at(double a, double b) const { return coordinate(x(a)) + ' ' + coordinate(y(b)); }
};

/// Thins long curves to the lowest and highest point of every piece: peaks stay visible.
std::vector<std::size_t> curve_points(const Series& series, const Axes& axes) {
  const std::size_t n = std::min(series.x.size(), series.y.size());
  std::vector<std::size_t> shown;
  const std::size_t piece = n > most_points ? 2 * n / most_points + 1 : 1;
  for (std::size_t begin = 0; begin < n; begin += piece) {
    const std::size_t end = std::min(n, begin + piece);
    std::size_t low = end, high = end;
    for (std::size_t i = begin; i < end; ++i) {
      if (!axes.has(series.x[i], series.y[i])) continue;
      if (low == end || series.y[i] < series.y[low]) low = i;
      if (high == end || series.y[i] > series.y[high]) high = i;
    }
    shown.push_back(low < end ? std::min(low, high) : begin);
    if (low != high) shown.push_back(std::max(low, high));
  }
  return shown;
}

/// Thins a large cloud to every n-th point.
std::vector<std::size_t> cloud_points(const Series& series) {
  const std::size_t n = std::min(series.x.size(), series.y.size());
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < n; i += ceil_div(n, most_points)) shown.push_back(i);
  return shown;
}

std::string path_of(const Series& series, const Axes& axes) {
  std::string path;
  bool pen_down = false;
  for (const std::size_t i : curve_points(series, axes)) {
    const bool shown = axes.has(series.x[i], series.y[i]);
    if (shown) path += (pen_down ? 'L' : 'M') + axes.at(series.x[i], series.y[i]);
    pen_down = shown;
  }
  return path;
}

std::string band_of(const Series& series, const Axes& axes) {
  const std::size_t n = std::min({series.x.size(), series.low.size(), series.high.size()});
  std::string there, back;
  for (std::size_t i = 0; i < n; ++i) {
    if (!axes.has(series.x[i], series.low[i]) || !axes.has(series.x[i], series.high[i])) continue;
    there += (there.empty() ? 'M' : 'L') + axes.at(series.x[i], series.high[i]);
    back = 'L' + axes.at(series.x[i], series.low[i]) + back;
  }
  return there.empty() ? "" : there + back + "Z";
}

std::string dots_of(const Series& series, const Axes& axes, const std::string& colour, double r) {
  std::string dots;
  for (const std::size_t i :
       series.mark == Mark::points ? cloud_points(series) : curve_points(series, axes)) {
    if (!axes.has(series.x[i], series.y[i])) continue;
    dots += fmt::format(R"(<circle class="dot {}" cx="{}" cy="{}" r="{}"/>)", colour,
                        coordinate(axes.x(series.x[i])), coordinate(axes.y(series.y[i])),
                        coordinate(r));
  }
  return dots;
}

/// Returns a tick for every pixel that has points.
std::string ticks_of(const Series& series, const Axes& axes, int colour) {
  constexpr double height = 5, pitch = 6;
  std::set<std::string> starts;
  for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i)
    if (axes.has(series.x[i], series.y[i]))
      starts.insert(coordinate(std::round(axes.x(series.x[i]))) + ' ' +
                    coordinate(axes.y(series.y[i]) - pitch * colour));
  std::string path;
  for (const std::string& start : starts) path += fmt::format("M{}v-{}", start, height);
  return fmt::format(R"(<path class="curve thin {}" d="{}"/>)", colour_class(colour), path);
}

std::string curve_of(const Series& series, const Axes& axes, int number) {
  if (series.mark == Mark::ticks) return ticks_of(series, axes, number);
  const std::string colour = colour_class(number);
  std::string markup;
  if (const std::string band = band_of(series, axes); !band.empty())
    markup += fmt::format(R"(<path class="band {}" d="{}"/>)", colour, band);
  const std::string path = series.mark == Mark::points ? "" : path_of(series, axes);
  const bool has_line = path.find('L') != std::string::npos;
  if (has_line)
    markup += fmt::format(R"(<path class="curve {}{}" d="{}"/>)", colour,
                          series.mark == Mark::dashed ? " dashed" : "", path);
  if (!has_line) markup += dots_of(series, axes, colour, 2.4);
  if (series.mark == Mark::line_and_points) markup += dots_of(series, axes, colour, 3);
  return markup;
}

Axes axes_of(const Chart& chart) {
  Extent x, y;
  for (const Series& series : chart.series) {
    x.add(series.x, chart.x.scale);
    for (const auto* numbers : {&series.y, &series.low, &series.high})
      y.add(*numbers, chart.y.scale);
  }
  Axis tight = chart.x;  // curves reach the frame
  if (tight.scale != Scale::logarithmic && !x.empty && x.high > x.low) {
    tight.lowest = chart.x.lowest.value_or(x.low);
    tight.highest = chart.x.highest.value_or(x.high);
  }
  return {AxisLayout(tight, x.low, x.high), AxisLayout(chart.y, y.low, y.high)};
}

int colour_of(const Chart& chart, std::size_t index) {
  return chart.series[index].colour < 0 ? int(index) : chart.series[index].colour;
}

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

/// Draws names below the axis, tilted if they would overlap.
void name_group(Canvas& canvas, const std::string& name, double x, double y, bool leaning) {
  if (!leaning) return canvas.text(x, y + 18, name, "tick", "middle");
  canvas.raw(fmt::format(
      R"--(<text class="tick" transform="translate({} {}) rotate(-35)" text-anchor="end">{}</text>)--",
      coordinate(x + 4), coordinate(y + 14), escaped(name)));
}

}  // namespace

std::string draw(const Chart& chart) {
  Canvas canvas(chart.width, chart.height);
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    entries.push_back({chart.series[i].name, colour_of(chart, i), chart.series[i].mark});
  Axes axes = axes_of(chart);
  const double top = canvas.header(chart.title, chart.note, entries) + 26;
  const Rectangle plot{Canvas::margin(axes.y), top, chart.width - 14, chart.height - 42};
  axes.x.place(plot.left, plot.right);
  axes.y.place(plot.bottom, plot.top);
  canvas.value_axis(axes.y, chart.y.label, plot);
  canvas.bottom_axis(axes.x, chart.x.label, plot);
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    canvas.raw(curve_of(chart.series[i], axes, colour_of(chart, i)));
  return canvas.finish(chart.title);
}

std::string draw(const BarChart& chart) {
  constexpr double height = 300;
  Canvas canvas(chart.width, height);
  std::vector<LegendEntry> entries;
  if (chart.series.size() > 1)
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      entries.push_back({chart.series[i].name, int(i), Mark::points});
  AxisLayout axis = value_axis_of(chart);
  const double top = canvas.header(chart.title, "", entries) + 26;
  const double left = Canvas::margin(axis), right = chart.width - 14;
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
