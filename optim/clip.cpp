#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/optim/clip.hpp>
#include <bochner/optim/flat_loop.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

void GradientLimit::apply(real* gradient, std::size_t n) const {
  const real scale = factor, high = largest, low = -high;
  for (std::size_t i = 0; scale != 1 && i < n; ++i) gradient[i] *= scale;
  if (high == std::numeric_limits<real>::infinity()) return;
  for (std::size_t i = 0; i < n; ++i) {
    const real g = gradient[i];
    gradient[i] = g < low ? low : g > high ? high : g;
  }
}

GradientLimit norm_limit(double norm, double limit) {
  require(limit > 0, "norm_limit", "limit ", limit, ": must be positive");
  if (!std::isfinite(norm) || norm <= limit) return {};
  return {.factor = real(limit / norm)};
}

void limit_all(const GradientLimit& limit, const std::vector<NamedParameter>& parameters) {
  if (limit.factor == 1 && limit.largest == std::numeric_limits<real>::infinity()) return;
  FlatLoop loop(parameters);
  loop([&](std::size_t index, std::size_t begin, std::size_t end) {
    Parameter& parameter = *parameters[index].parameter;
    if (parameter.has_gradient()) limit.apply(parameter.gradient().data() + begin, end - begin);
  });
}

double gradient_norm(const std::vector<NamedParameter>& parameters) {
  double sum = 0;
  for (const NamedParameter& named : parameters) {
    if (!named.parameter->has_gradient()) continue;
    const Tensor& gradient = named.parameter->gradient();
    sum += sum_of_squares(gradient.data(), gradient.size());
  }
  return std::sqrt(sum);
}

double clip_by_norm(const std::vector<NamedParameter>& parameters, double limit) {
  refuse_shared(parameters);
  const double norm = gradient_norm(parameters);
  limit_all(norm_limit(norm, limit), parameters);
  return norm;
}

void clip_by_value(const std::vector<NamedParameter>& parameters, double limit) {
  require(limit > 0, "clip_by_value", "limit ", limit, ": must be positive");
  limit_all({.largest = real(limit)}, parameters);
}

}  // namespace bochner::inline BOCHNER_PRECISION
