#pragma once
/// Models that go on in the units of other data.

#include <string>
#include <vector>

namespace bochner {

/// Of several columns, one after the other. (n), (n)
struct UnitsOfColumns {
  std::vector<double> mean, deviation;
};
/// The columns whose mean is more than three deviations of the model's unit away from its own, or
/// whose deviation is more than three times as large or as small, with both units. A deviation of 0
/// counts as 1.
std::vector<std::string> find_shifted(const std::vector<std::string>& columns,
                                      const UnitsOfColumns& of_model, const UnitsOfColumns& here);

}  // namespace bochner
