#pragma once
/// Axes of charts: from numbers to pixels, and where the ticks stand.

#include <optional>
#include <string>
#include <vector>

namespace bochner {

enum class Scale { linear, logarithmic };

struct Axis {
  std::string label;
  Scale scale = Scale::linear;
  std::optional<double> lowest = {},
                        highest = {};  ///< where the axis ends; by default where the data end
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
  double transformed(double number) const;
  void choose_linear_ticks(const Axis& axis);
  void choose_decades();

  Scale scale_;
  double low_, high_, from_ = 0, to_ = 1;
  std::vector<Tick> ticks_;
};

/// The smallest and largest number that an axis of this scale can show; {0, 1} of none.
struct Extent {
  double low = 0, high = 1;
  bool empty = true;
  void add(double number, Scale scale);
};

}  // namespace bochner
