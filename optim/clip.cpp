#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/optim/clip.hpp>
#include <bochner/optim/flat_loop.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

template <class Function>
void map_gradients(const std::vector<NamedParameter>& parameters, const Function& function) {
  FlatLoop loop(parameters);
  loop([&](std::size_t index, std::size_t begin, std::size_t end) {
    Parameter& parameter = *parameters[index].parameter;
    if (!parameter.has_gradient()) return;
    real* gradient = parameter.gradient().data();
    for (std::size_t i = begin; i < end; ++i) gradient[i] = function(gradient[i]);
  });
}

}  // namespace

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
  require(limit > 0, "clip_by_norm", "limit ", limit, ": must be positive");
  const double norm = gradient_norm(parameters);
  if (!std::isfinite(norm) || norm <= limit) return norm;
  const real scale = real(limit / norm);
  map_gradients(parameters, [scale](real g) { return g * scale; });
  return norm;
}

void clip_by_value(const std::vector<NamedParameter>& parameters, double limit) {
  require(limit > 0, "clip_by_value", "limit ", limit, ": must be positive");
  const real high = real(limit), low = -high;
  map_gradients(parameters, [=](real g) { return g < low ? low : g > high ? high : g; });
}

}  // namespace bochner::inline BOCHNER_PRECISION
