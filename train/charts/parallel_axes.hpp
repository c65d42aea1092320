#pragma once
#include <bochner/train/charts/chart.hpp>

namespace bochner {

/// Axes side by side, upright, and a line through all of them for each row: which values go with
/// which.
struct ParallelAxis {
  std::string label;
  Scale scale = Scale::linear;
  std::vector<std::string> names = {};  ///< of values 0, 1, 2, ... that are no numbers
};
struct ParallelLine {
  std::vector<double> values;  ///< one for each axis; what an axis cannot show interrupts the line
  int colour = 7;
  bool strong = false;  ///< in front of the others, which are faint
};
struct ParallelAxes {
  std::string title;
  std::string note = {};
  std::vector<ParallelAxis> axes = {};
  std::vector<ParallelLine> lines = {};
  double width = 2 * chart_width, height = 340;
};
std::string draw(const ParallelAxes& chart);

}  // namespace bochner
