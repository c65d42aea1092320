#pragma once
#include <bochner/train/charts/chart.hpp>

namespace bochner {

/// Parallel coordinates: vertical axes side by side, and a line through all of them per row.
struct ParallelAxis {
  std::string label;
  Scale scale = Scale::linear;
  std::vector<std::string> names = {};  ///< of values 0, 1, 2, ... that are not numbers
};
struct ParallelLine {
  std::vector<double> values;  ///< per axis; values that an axis cannot show interrupt the line
  int colour = 7;
  bool strong = false;  ///< drawn in front; others are faint
};
struct ParallelAxes {
  std::string title;
  std::string note = {};
  std::vector<ParallelAxis> axes = {};
  std::vector<ParallelLine> lines = {};
  double width = wide_width, height = 340;
};
std::string draw(const ParallelAxes& chart);

}  // namespace bochner
