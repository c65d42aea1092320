#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/train/laboratory/density_fit.hpp>
#include <bochner/train/laboratory/descent.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

double relative_error(const std::vector<double>& estimate, const std::vector<double>& exact) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += std::pow(estimate[i] - exact[i], 2);
    size += exact[i] * exact[i];
  }
  return std::sqrt(error / size);
}

double error_of_draws(SpectralDensity& density, const KernelPoints& points) {
  Tape tape;
  tape.recording = false;
  const Tensor values = kernel_of(tape, density, points.delta).value();
  return relative_error({values.begin(), values.end()}, points.values);
}

std::optional<double> error_of_closed_form(SpectralDensity& density, const KernelPoints& points) {
  const PointFunction kernel = density.kernel(0);
  if (!kernel) return {};
  const std::size_t d = points.delta.shape()[1];
  std::vector<double> values;
  for (std::size_t i = 0; i < points.values.size(); ++i) {
    const std::vector<double> delta(points.delta.data() + i * d, points.delta.data() + (i + 1) * d);
    values.push_back(kernel(delta.data()));
  }
  return relative_error(values, points.values);
}

void copy_parameters(Module& from, Module& to) {
  const auto source = parameters_of(from), target = parameters_of(to);
  for (std::size_t i = 0; i < source.size(); ++i)
    if (source[i].parameter->shape() == target[i].parameter->shape())
      target[i].parameter->value() = source[i].parameter->value();
}

Tensor as_tensor(const std::vector<double>& values) {
  Tensor tensor = uninitialized({values.size()});
  std::copy(values.begin(), values.end(), tensor.data());
  return tensor;
}

}  // namespace

Var kernel_of(Tape& tape, SpectralDensity& density, const Tensor& delta) {
  const Var draws = density.draws(tape);
  const Var w = reshape(slice(draws, 0, 0, 1), {draws.dim(1), draws.dim(2)});
  return mean(cos(matmul_nt(tape.view(delta), w)), {-1});
}

SplitPoints split(const KernelPoints& points) {
  const std::size_t d = points.delta.shape()[1];
  SplitPoints parts;
  std::vector<real> deltas[2];
  for (std::size_t i = 0; i < points.values.size(); ++i) {
    KernelPoints& part = i % 2 == 0 ? parts.train : parts.held_out;
    part.values.push_back(points.values[i]);
    deltas[i % 2].insert(deltas[i % 2].end(), points.delta.data() + i * d,
                         points.delta.data() + (i + 1) * d);
  }
  for (std::size_t which : {0, 1}) {
    KernelPoints& part = which == 0 ? parts.train : parts.held_out;
    part.delta = uninitialized({part.values.size(), d});
    std::copy(deltas[which].begin(), deltas[which].end(), part.delta.data());
  }
  return parts;
}

DensityFit fit_density(SpectralDensity& density, SpectralDensity& many, const KernelPoints& train,
                       const KernelPoints& held_out, const FitOptions& options) {
  DensityFit fit;
  fit.before = error_of_draws(density, held_out);
  const Tensor wanted = as_tensor(train.values);
  double size = 0;
  for (const double value : train.values) size += value * value / double(train.values.size());
  const auto loss = [&](Tape& tape, std::uint64_t step) {
    tape.training = true;
    tape.seed = options.seed;
    tape.step = step;
    return mean(square(kernel_of(tape, density, train.delta) - tape.view(wanted))) * (1 / size);
  };
  fit.losses = descend(parameters_of(density), {options.steps, options.learning_rate, 20}, loss);
  copy_parameters(density, many);
  fit.of_draws = error_of_draws(density, held_out);
  fit.of_density = error_of_draws(many, held_out);
  fit.closed_form = error_of_closed_form(density, held_out);
  return fit;
}

}  // namespace bochner::inline BOCHNER_PRECISION
