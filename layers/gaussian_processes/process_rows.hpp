#pragma once
/// Rows of data for Gaussian processes, and errors for covariances that are singular to rounding.

#include <algorithm>
#include <bochner/base/shape.hpp>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace bochner {

/// Columns in units of their deviations.
struct ProcessRows {
  const std::vector<std::vector<double>>& inputs;  ///< (d, n)
  const std::vector<double>& targets;              ///< (n), or empty
  std::size_t size() const { return inputs.empty() ? 0 : inputs[0].size(); }
};

/// Throws std::invalid_argument unless there are d columns of equal length, all finite.
inline void require_rows(const std::vector<std::vector<double>>& columns, std::size_t d) {
  require(columns.size() == d, "gaussian_process", "expected ", d, " inputs, got ", columns.size());
  for (const std::vector<double>& column : columns) {
    require(column.size() == columns[0].size(), "gaussian_process", "columns have ",
            columns[0].size(), " and ", column.size(), " rows");
    require(std::ranges::all_of(column, [](double x) { return std::isfinite(x); }),
            "gaussian_process", "inputs must be finite");
  }
}

/// Checks inputs and, if there are any, targets.
inline void require_rows(const ProcessRows& rows, std::size_t d) {
  require_rows(rows.inputs, d);
  if (rows.targets.empty()) return;
  require(rows.targets.size() == rows.size(), "gaussian_process", "got ", rows.targets.size(),
          " targets for ", rows.size(), " rows");
  require(std::ranges::all_of(rows.targets, [](double y) { return std::isfinite(y); }),
          "gaussian_process", "targets must be finite");
}

/// Runs an action and adds a remedy to its std::domain_error; `noise` is a variance.
template <class Action>
auto explain_singular(double noise, const std::string& method, const Action& action) {
  try {
    return action();
  } catch (const std::domain_error& error) {
    throw std::domain_error(
        std::string("gp: ") + error.what() + ", with noise of deviation " +
        std::to_string(std::sqrt(noise)) +
        " in units of the targets': some rows are equal up to rounding; increase model.gp.noise, "
        "lower optim.lr, or remove duplicate rows" +
        (method == "exact" ? "" : ", or set model.gp.method = \"exact\""));
  }
}

}  // namespace bochner
