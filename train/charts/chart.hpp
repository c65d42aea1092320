#pragma once
/// Charts as SVG text; the page's style sheet sets the colours, light or dark.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bochner {

enum class Scale { linear, logarithmic, time };  ///< time: seconds since 1970, as dates

struct Axis {
  std::string label;
  Scale scale = Scale::linear;
  std::optional<double> lowest = {},
                        highest = {};  ///< ends of the axis; by default those of the data
};

/// ticks: short vertical lines that stand on the points, those of each colour in a row of its own
enum class Mark { line, dashed, points, line_and_points, ticks };

/// Default pixels, of charts that fit a page of 420 without a scroll bar, and of wide ones.
inline constexpr double chart_width = 380, wide_width = 1040, heat_map_width = 250;

/// Curve with style. Points that an axis cannot show interrupt a line. `low` and `high` are empty
/// or the borders of a band around it.
struct Series {
  std::string name;  ///< "" for no legend entry
  std::vector<double> x = {}, y = {};
  std::vector<double> low = {}, high = {};
  Mark mark = Mark::line;
  int colour = -1;  ///< of the palette; -1: by the order of series
};

struct Curve {
  std::vector<double> x, y;
  void add(double at, double value) {
    x.push_back(at);
    y.push_back(value);
  }
};

struct Chart {
  std::string title;
  Axis x = {}, y = {};
  std::vector<Series> series = {};
  std::string note = {};  ///< small line below the title
  double width = chart_width, height = 270;
  void add(const std::string& name, Curve curve, Mark mark = Mark::line, int colour = -1) {
    series.push_back({name, std::move(curve.x), std::move(curve.y), {}, {}, mark, colour});
  }
};
std::string draw(const Chart& chart);

/// Groups of bars side by side, one bar of each series in a group.
struct BarSeries {
  std::string name;
  std::vector<double> values;
  std::vector<double> low = {}, high = {};  ///< whiskers
};
struct BarChart {
  std::string title;
  std::string label;  ///< of the value axis
  std::vector<std::string> groups = {};
  std::vector<BarSeries> series = {};
  double width = chart_width;
};
std::string draw(const BarChart& chart);

/// Colour tables: from dark violet to light yellow, even in lightness; or, for differences, from
/// blue over nearly white, which is zero, to red.
enum class Colours { sequential, diverging };

/// Matrix as an image, row 0 at the top.
struct HeatMap {
  std::string title;
  std::string x_label, y_label;
  std::size_t rows = 0, columns = 0;
  std::vector<double> values = {};  ///< (rows, columns); not finite: blank
  std::optional<double> lowest = {},
                        highest = {};  ///< ends of the colours; by default those of the data
  /// Ends of diverging colours are symmetric around zero.
  Colours colours = Colours::sequential;
  std::optional<std::size_t> outlined = {};  ///< index of a value with a frame around it
};
std::string draw(const HeatMap& map);

/// Entry of the colour table that is transparent, for missing values.
inline constexpr std::uint8_t blank_pixel = 255;
/// Returns "data:image/png;base64,..." of pixels (rows, columns) of a colour table of 0 to 254.
std::string png_data(const std::vector<std::uint8_t>& pixels, std::size_t rows, std::size_t columns,
                     Colours colours = Colours::sequential);

}  // namespace bochner
