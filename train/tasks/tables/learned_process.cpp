#include <bochner/train/tasks/tables/learned_process.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t parts_of_number = 4;

void write_number(double number, real* parts) {
  int exponent = 0;
  double rest = std::frexp(number, &exponent);
  parts[0] = real(exponent);
  for (std::size_t i = 1; i < parts_of_number; ++i) {
    parts[i] = real(rest);
    rest -= double(parts[i]);
  }
}

double read_number(const real* parts) {
  const double mantissa = double(parts[1]) + (double(parts[2]) + double(parts[3]));
  return std::ldexp(mantissa, int(parts[0]));
}

}  // namespace

LearnedProcess::LearnedProcess(const GaussianProcessSpec& spec)
    : GaussianProcess(spec), units_(zeros({spec.inputs + 1, 2, parts_of_number})) {
  set_units(std::vector<ColumnUnit>(spec.inputs + 1));
}

void LearnedProcess::set_units(const std::vector<ColumnUnit>& units) {
  require(units.size() == units_.shape()[0], "gaussian_process", units.size(), " units of ",
          units_.shape()[0], " columns");
  for (std::size_t i = 0; i < units.size(); ++i) {
    write_number(units[i].mean, &units_(i, 0, 0));
    write_number(units[i].deviation, &units_(i, 1, 0));
  }
}

std::vector<ColumnUnit> LearnedProcess::units() const {
  std::vector<ColumnUnit> units;
  for (std::size_t i = 0; i < units_.shape()[0]; ++i)
    units.push_back({read_number(&units_(i, 0, 0)), read_number(&units_(i, 1, 0))});
  return units;
}

void LearnedProcess::visit(Visitor& visitor) {
  GaussianProcess::visit(visitor);
  visitor(units_name, units_);
}

}  // namespace bochner
