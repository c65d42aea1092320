#pragma once
/// Rows that a Gaussian process sees or is asked about.

#include <algorithm>
#include <bochner/base/shape.hpp>
#include <cmath>
#include <vector>

namespace bochner {

/// Rows column by column, in units of their deviations.
struct ProcessRows {
  const std::vector<std::vector<double>>& inputs;  ///< (d, n)
  const std::vector<double>& targets;              ///< (n), or nothing
  std::size_t size() const { return inputs.empty() ? 0 : inputs[0].size(); }
};

/// Throws std::invalid_argument unless there are d columns, all of one length and all finite.
inline void require_rows(const std::vector<std::vector<double>>& columns, std::size_t d) {
  require(columns.size() == d, "gaussian_process", "rows of ", columns.size(), " inputs, not ", d);
  for (const std::vector<double>& column : columns) {
    require(column.size() == columns[0].size(), "gaussian_process", "columns of ",
            columns[0].size(), " and of ", column.size(), " rows");
    require(std::ranges::all_of(column, [](double x) { return std::isfinite(x); }),
            "gaussian_process", "an input is no finite number");
  }
}

/// The same of rows and, where they have some, of their targets.
inline void require_rows(const ProcessRows& rows, std::size_t d) {
  require_rows(rows.inputs, d);
  if (rows.targets.empty()) return;
  require(rows.targets.size() == rows.size(), "gaussian_process", rows.targets.size(),
          " targets of ", rows.size(), " rows");
  require(std::ranges::all_of(rows.targets, [](double y) { return std::isfinite(y); }),
          "gaussian_process", "a target is no finite number");
}

}  // namespace bochner
