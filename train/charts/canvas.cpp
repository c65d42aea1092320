#include <fmt/format.h>

#include <algorithm>
#include <bochner/train/charts/canvas.hpp>
#include <bochner/train/charts/markup.hpp>

namespace bochner {
namespace {

constexpr double character_width = 6.3;  // of text of 11.5 px

std::string swatch(const LegendEntry& entry, double x, double y) {
  const std::string colour = colour_class(entry.colour);
  if (entry.mark == Mark::points)
    return fmt::format(R"(<circle class="dot {}" cx="{}" cy="{}" r="3.5"/>)", colour,
                       coordinate(x + 8), coordinate(y));
  return fmt::format(R"(<path class="curve {}{}" d="M{} {}h16"/>)", colour,
                     entry.mark == Mark::dashed ? " dashed" : "", coordinate(x), coordinate(y));
}

}  // namespace

std::string colour_class(int colour) { return fmt::format("c{}", colour % palette_size); }

double text_width(const std::string& text) {
  return character_width * double(character_count(text));
}

Canvas::Canvas(double width, double height) : width_(width), height_(height) {}

void Canvas::text(double x, double y, const std::string& words, const char* style,
                  const char* anchor) {
  body_ += fmt::format(R"(<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>)", style,
                       coordinate(x), coordinate(y), anchor, escaped(words));
}

void Canvas::line(double x1, double y1, double x2, double y2, const char* style) {
  body_ += fmt::format(R"(<path class="{}" d="M{} {}L{} {}"/>)", style, coordinate(x1),
                       coordinate(y1), coordinate(x2), coordinate(y2));
}

double Canvas::legend(const std::vector<LegendEntry>& entries, double y) {
  double x = 0;
  bool any = false;
  for (const LegendEntry& entry : entries) {
    if (entry.name.empty()) continue;
    const double wide = 22 + text_width(entry.name);
    if (any && x + wide > width_) {
      x = 0;
      y += 18;
    }
    body_ += swatch(entry, x, y - 4);
    text(x + 22, y, entry.name, "label");
    x += wide + 16;
    any = true;
  }
  return any ? y + 12 : y - 10;
}

double Canvas::header(const std::string& title, const std::string& note,
                      const std::vector<LegendEntry>& entries) {
  double y = 0;
  if (!title.empty()) text(0, y += 15, title, "title");
  if (!note.empty()) text(0, y += 17, note, "label");
  return legend(entries, y + 21);
}

double Canvas::margin(const AxisLayout& axis) {
  double widest = 0;
  for (const Tick& tick : axis.ticks()) widest = std::max(widest, text_width(tick.label));
  return widest + 10;
}

void Canvas::value_axis(const AxisLayout& axis, const std::string& label, const Rectangle& plot) {
  for (const Tick& tick : axis.ticks()) {
    const double y = axis(tick.at);
    line(plot.left, y, plot.right, y, tick.label.empty() ? "grid minor" : "grid");
    if (!tick.label.empty()) text(plot.left - 8, y + 4, tick.label, "tick", "end");
  }
  text(0, plot.top - 16, label, "label");
}

void Canvas::bottom_axis(const AxisLayout& axis, const std::string& label, const Rectangle& plot) {
  line(plot.left, plot.bottom, plot.right, plot.bottom, "base");
  double free_from = -1e9;
  for (const Tick& tick : axis.ticks()) {
    const double x = axis(tick.at), half = text_width(tick.label) / 2;
    line(x, plot.bottom, x, plot.bottom + (tick.label.empty() ? 3 : 5), "base");
    if (tick.label.empty() || x - half < free_from) continue;
    text(x, plot.bottom + 18, tick.label, "tick", "middle");
    free_from = x + half + 6;
  }
  text((plot.left + plot.right) / 2, plot.bottom + 36, label, "label", "middle");
}

std::string Canvas::finish(const std::string& title) const {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>)",
      coordinate(width_), coordinate(height_), escaped(title), body_);
}

}  // namespace bochner
