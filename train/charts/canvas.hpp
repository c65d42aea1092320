#pragma once
/// What charts share: the frame of an SVG, text, legend and axes.

#include <bochner/train/charts/chart.hpp>
#include <string>
#include <vector>

namespace bochner {

struct LegendEntry {
  std::string name;
  int colour = 0;
  Mark mark = Mark::line;
};

/// Colours that the style sheet has; more series begin again.
inline constexpr int palette_size = 8;
/// "c3": the class that gives a series its colour.
std::string colour_class(int colour);
/// Pixels that a text of the chart takes, estimated.
double text_width(const std::string& text);

struct Rectangle {
  double left, top, right, bottom;
};

struct Tick {
  double at;
  std::string label;  ///< "" for a minor tick of a logarithmic axis
};

/// An axis laid over [from, to] in pixels; `from` belongs to the low end.
class AxisLayout {
 public:
  /// Low and high are the ends of the data. Linear axes are widened to whole ticks.
  AxisLayout(const Axis& axis, double low, double high);
  void place(double from, double to) { from_ = from, to_ = to; }
  /// Pixels of a number; numbers beyond the ends are cut to a little outside.
  double operator()(double number) const;
  /// Whether the number has a place: finite, and positive on a logarithmic axis.
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

/// The smallest and largest number that an axis of this scale can show; {0, 1} of none.
struct Extent {
  double low = 0, high = 1;
  bool empty = true;
  void add(const std::vector<double>& numbers, Scale scale);
};

class Canvas {
 public:
  Canvas(double width, double height) : width_(width), height_(height) {}
  /// Anchor is "start", "middle" or "end"; the class is one of the style sheet's.
  void text(double x, double y, const std::string& words, const char* style,
            const char* anchor = "start");
  void line(double x1, double y1, double x2, double y2, const char* style);
  /// SVG as it is.
  void raw(const std::string& markup) { body_ += markup; }

  /// Title, note and legend from the top down. Returns the height that they take.
  double header(const std::string& title, const std::string& note,
                const std::vector<LegendEntry>& legend);
  /// Horizontal lines and labels of the value axis, with its name above.
  void value_axis(const AxisLayout& axis, const std::string& label, const Rectangle& plot);
  void bottom_axis(const AxisLayout& axis, const std::string& label, const Rectangle& plot);
  /// Left margin that the labels of the value axis need.
  static double margin(const AxisLayout& axis);
  /// The whole picture; `title` is read out to those who cannot see it.
  std::string finish(const std::string& title) const;

 private:
  double legend(const std::vector<LegendEntry>& entries, double y);
  double width_, height_;
  std::string body_;
};

}  // namespace bochner
