#pragma once
/// Canvas that charts share: the frame of an SVG, text, legend and axes.

#include <bochner/train/charts/chart.hpp>
#include <string>
#include <vector>

namespace bochner {

struct LegendEntry {
  std::string name;
  int colour = 0;
  Mark mark = Mark::line;
};

/// Number of colours in the style sheet; further series reuse them.
inline constexpr int palette_size = 8;
/// Returns "c3", the class that gives a series its colour.
std::string colour_class(int colour);
double text_width(const std::string& text);

struct Rectangle {
  double left, top, right, bottom;
};

struct Tick {
  double at;
  std::string label;  ///< "" for a minor tick of a logarithmic axis
};

/// Axis laid over [from, to] in pixels; `from` belongs to the low end.
class AxisLayout {
 public:
  /// Lays out an axis for data from low to high. Linear axes are widened to whole ticks.
  AxisLayout(const Axis& axis, double low, double high);
  void place(double from, double to) { from_ = from, to_ = to; }
  /// Returns the pixel of a number; numbers beyond the ends are clipped slightly outside.
  double operator()(double number) const;
  /// Whether the number can be shown: finite, and positive on a logarithmic axis.
  bool has(double number) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void choose_linear_ticks(const Axis& axis);
  void choose_decades();
  void choose_between_digits();

  Scale scale_;
  double low_, high_, from_ = 0, to_ = 1;
  std::vector<Tick> ticks_;
};

/// Smallest and largest number that an axis of this scale can show; {0, 1} of none.
struct Extent {
  double low = 0, high = 1;
  bool empty = true;
  void add(const std::vector<double>& numbers, Scale scale);
};

class Canvas {
 public:
  Canvas(double width, double height) : width_(width), height_(height) {}
  /// Writes a text. Anchor is "start", "middle" or "end"; the class is one of the style sheet's.
  void text(double x, double y, const std::string& words, const char* style,
            const char* anchor = "start");
  void line(double x1, double y1, double x2, double y2, const char* style);
  void raw(const std::string& markup) { body_ += markup; }

  /// Draws title, note and legend from the top down. Returns their height.
  double header(const std::string& title, const std::string& note,
                const std::vector<LegendEntry>& legend);
  /// Draws horizontal lines and labels of the value axis, with its name above.
  void value_axis(const AxisLayout& axis, const std::string& label, const Rectangle& plot);
  void bottom_axis(const AxisLayout& axis, const std::string& label, const Rectangle& plot);
  static double margin(const AxisLayout& axis);
  /// Returns the complete SVG; `title` is its accessible label.
  std::string finish(const std::string& title) const;

 private:
  double legend(const std::vector<LegendEntry>& entries, double y);
  double width_, height_;
  std::string body_;
};

}  // namespace bochner
