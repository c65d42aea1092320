#pragma once
#include <string>
#include <vector>

namespace bochner {

/// Mean and standard deviation of each column. (n), (n)
struct UnitsOfColumns {
  std::vector<double> mean, deviation;
};
/// Returns the columns whose mean differs from the model's by more than three of its deviations, or
/// whose deviation differs by more than a factor of three, with both units. A deviation of 0 counts
/// as 1.
std::vector<std::string> find_shifted(const std::vector<std::string>& columns,
                                      const UnitsOfColumns& of_model, const UnitsOfColumns& here);

}  // namespace bochner
