#include <fmt/format.h>

#include <bochner/train/tasks/distribution_shift.hpp>
#include <cmath>

namespace bochner {

std::vector<std::string> find_shifted(const std::vector<std::string>& columns,
                                      const UnitsOfColumns& of_model, const UnitsOfColumns& here) {
  constexpr double far = 3;
  std::vector<std::string> shifted;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double unit = of_model.deviation[i] > 0 ? of_model.deviation[i] : 1,
                 other = here.deviation[i] > 0 ? here.deviation[i] : 1;
    const double distance = std::abs(here.mean[i] - of_model.mean[i]) / unit;
    if (distance <= far && other <= far * unit && unit <= far * other) continue;
    shifted.push_back(fmt::format("{} (mean {:.4g}, deviation {:.4g}; here {:.4g}, {:.4g})",
                                  columns[i], of_model.mean[i], unit, here.mean[i], other));
  }
  return shifted;
}

}  // namespace bochner
