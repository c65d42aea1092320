#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/canvas.hpp>
#include <bochner/train/charts/format.hpp>

namespace bochner {
namespace {

constexpr std::size_t most_points = 1500;

/// Long curves are thinned to the lowest and the highest point of every piece: peaks stay visible.
std::vector<std::size_t> visible_points(const Series& series) {
  const std::size_t n = std::min(series.x.size(), series.y.size());
  std::vector<std::size_t> shown;
  const std::size_t piece = n > most_points ? 2 * n / most_points + 1 : 1;
  for (std::size_t begin = 0; begin < n; begin += piece) {
    const std::size_t end = std::min(n, begin + piece);
    std::size_t low = begin, high = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (series.y[i] < series.y[low]) low = i;
      if (series.y[i] > series.y[high]) high = i;
    }
    shown.push_back(std::min(low, high));
    if (low != high) shown.push_back(std::max(low, high));
  }
  return shown;
}

struct Axes {
  AxisLayout x, y;
  bool has(double a, double b) const { return x.has(a) && y.has(b); }
  std::string at(double a, double b) const { return coordinate(x(a)) + ' ' + coordinate(y(b)); }
};

std::string path_of(const Series& series, const Axes& axes) {
  std::string path;
  bool pen_down = false;
  for (const std::size_t i : visible_points(series)) {
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
  for (const std::size_t i : visible_points(series)) {
    if (!axes.has(series.x[i], series.y[i])) continue;
    dots += fmt::format(R"(<circle class="dot {}" cx="{}" cy="{}" r="{}"/>)", colour,
                        coordinate(axes.x(series.x[i])), coordinate(axes.y(series.y[i])),
                        coordinate(r));
  }
  return dots;
}

std::string curve_of(const Series& series, const Axes& axes, const std::string& colour) {
  std::string markup;
  if (const std::string band = band_of(series, axes); !band.empty())
    markup += fmt::format(R"(<path class="band {}" d="{}"/>)", colour, band);
  if (series.mark != Mark::points)
    markup += fmt::format(R"(<path class="curve {}{}" d="{}"/>)", colour,
                          series.mark == Mark::dashed ? " dashed" : "", path_of(series, axes));
  if (series.mark == Mark::points) markup += dots_of(series, axes, colour, 2.4);
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
  Axis tight = chart.x;  // curves begin and end at the frame
  if (tight.scale == Scale::linear && !x.empty && x.high > x.low) {
    tight.lowest = chart.x.lowest.value_or(x.low);
    tight.highest = chart.x.highest.value_or(x.high);
  }
  return {AxisLayout(tight, x.low, x.high), AxisLayout(chart.y, y.low, y.high)};
}

int colour_of(const Chart& chart, std::size_t index) {
  return chart.series[index].colour < 0 ? int(index) : chart.series[index].colour;
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
    canvas.raw(curve_of(chart.series[i], axes, colour_class(colour_of(chart, i))));
  return canvas.finish(chart.title);
}

}  // namespace bochner
