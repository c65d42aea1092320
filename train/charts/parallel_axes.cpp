#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/format.hpp>
#include <bochner/train/charts/canvas.hpp>
#include <bochner/train/charts/parallel_axes.hpp>

namespace bochner {
namespace {

constexpr std::size_t longest_name = 14;  // characters

/// Shortens ASCII texts, as configs have them; keeps others.
std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, std::max<std::size_t>(2, most) - 1) + "…";
}

/// Lays out an axis; names are at 0, 1, 2, ...
AxisLayout layout_of(const ParallelAxes& chart, std::size_t index) {
  const ParallelAxis& axis = chart.axes[index];
  Extent extent;
  for (const ParallelLine& line : chart.lines) extent.add({line.values[index]}, axis.scale);
  if (!axis.names.empty())
    return AxisLayout({.label = "", .lowest = -0.5, .highest = double(axis.names.size()) - 0.5}, 0,
                      1);
  return AxisLayout({.label = "", .scale = axis.scale}, extent.low, extent.high);
}

void draw_axis(Canvas& canvas, const ParallelAxis& axis, const AxisLayout& layout, double x,
               const Rectangle& plot, double pitch) {
  constexpr double character = 6.4;  // pixels, about
  canvas.line(x, plot.top, x, plot.bottom, "base");
  canvas.text(x, plot.top - 12, shortened(axis.label, std::size_t(pitch / character)), "label",
              x > plot.left ? "middle" : "start");
  if (!axis.names.empty()) {
    for (std::size_t i = 0; i < axis.names.size(); ++i)
      canvas.text(x + 6, layout(double(i)) + 4, shortened(axis.names[i], longest_name), "tick");
    return;
  }
  for (const Tick& tick : layout.ticks()) {
    if (tick.label.empty()) continue;
    canvas.line(x - 3, layout(tick.at), x + 3, layout(tick.at), "base");
    canvas.text(x + 6, layout(tick.at) + 4, tick.label, "tick");
  }
}

std::string path_through(const ParallelLine& line, const std::vector<AxisLayout>& layouts,
                         const std::vector<double>& places) {
  std::string path;
  bool pen_down = false;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const bool shown = layouts[i].has(line.values[i]);
    if (shown)
      path += fmt::format("{}{} {}", pen_down ? 'L' : 'M', coordinate(places[i]),
                          coordinate(layouts[i](line.values[i])));
    pen_down = shown;
  }
  return path;
}

}  // namespace

std::string draw(const ParallelAxes& chart) {
  Canvas canvas(chart.width, chart.height);
  const double top = canvas.header(chart.title, chart.note, {}) + 30;
  const Rectangle plot{8, top, chart.width - 60, chart.height - 12};
  const double pitch =
      (plot.right - plot.left) / double(std::max<std::size_t>(2, chart.axes.size()) - 1);
  std::vector<AxisLayout> layouts;
  std::vector<double> places;
  for (std::size_t i = 0; i < chart.axes.size(); ++i) {
    layouts.push_back(layout_of(chart, i));
    layouts.back().place(plot.bottom, plot.top);
    places.push_back(plot.left + double(i) * pitch);
  }
  for (const bool strong : {false, true}) {
    for (const ParallelLine& line : chart.lines)
      if (line.strong == strong)
        canvas.raw(fmt::format(R"(<path class="curve {}{}" d="{}"/>)", colour_class(line.colour),
                               strong ? "" : " faint", path_through(line, layouts, places)));
  }
  for (std::size_t i = 0; i < chart.axes.size(); ++i)
    draw_axis(canvas, chart.axes[i], layouts[i], places[i], plot, pitch);
  return canvas.finish(chart.title);
}

}  // namespace bochner
