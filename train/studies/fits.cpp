#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/numeric/philox.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/layers/features/weights.hpp>
#include <bochner/optim/clip.hpp>
#include <bochner/optim/optimizer.hpp>
#include <bochner/optim/schedule.hpp>
#include <bochner/train/studies/fits.hpp>
#include <cmath>
#include <numbers>
#include <utility>

namespace bochner {
namespace {

/// Kernel as a function of delta and r = |delta|.
using Kernel = double (*)(const double* delta, double r);

constexpr std::pair<const char*, Kernel> kernels[] = {
    {"gaussian", [](const double*, double r) { return std::exp(-r * r / 2); }},
    {"laplace", [](const double*, double r) { return std::exp(-r); }},
    {"cauchy", [](const double*, double r) { return 1 / (1 + r * r); }},
    {"matern32",
     [](const double*, double r) {
       return (1 + std::numbers::sqrt3 * r) * std::exp(-std::numbers::sqrt3 * r);
     }},
    {"matern52",
     [](const double*, double r) {
       const double s = std::sqrt(5.0) * r;
       return (1 + s + s * s / 3) * std::exp(-s);
     }},
    {"periodic_mixture", [](const double* delta, double r) {
       return 0.6 * std::exp(-r * r / 2) + 0.4 * std::exp(-r * r / 32) * std::cos(3 * delta[0]);
     }}};

double length_of(const double* delta, std::size_t d) {
  double square = 0;
  for (std::size_t i = 0; i < d; ++i) square += delta[i] * delta[i];
  return std::sqrt(square);
}

/// Thrown for a density whose draws are not finite.
struct InfiniteDraws : NonFiniteError {
  using NonFiniteError::NonFiniteError;
};

/// The first op of a pass with a number that is not finite.
struct Fault {
  std::string cause = "the sum of squared gradients overflowed";
  bool in_draws = false;  ///< of the density
};

/// Repeats a pass that gave numbers that are not finite.
Fault fault_of(PassOptions options, const std::function<void(Tape&)>& pass) {
  options.check_finite = true;
  try {
    Tape tape(options);
    pass(tape);
  } catch (const InfiniteDraws& error) {
    return {std::string("a draw of the density: ") + error.what(), true};
  } catch (const NonFiniteError& error) {
    return {error.what()};
  }
  return {};
}

[[noreturn]] void throw_lost(const std::string& when, const Fault& fault, bool at_any_rate) {
  throw std::invalid_argument(
      fmt::format("{}: {}; {}", when, fault.cause,
                  at_any_rate ? "bound the argument of that op, as by clamp(): a smaller --lr does "
                                "not help"
                              : "choose a smaller --lr"));
}

/// Throws for a step whose pass has lost its numbers. Draws that are infinite with the initial
/// parameters too do not depend on the learning rate.
[[noreturn]] void throw_lost_step(std::uint64_t step, const std::vector<NamedParameter>& parameters,
                                  const std::vector<Tensor>& initial,
                                  const std::function<void(Tape&)>& pass) {
  const Fault fault = fault_of({}, pass);
  for (std::size_t i = 0; i < initial.size(); ++i) parameters[i].parameter->assign(initial[i]);
  throw_lost(fmt::format("step {} of the fit", step + 1), fault,
             fault.in_draws && fault_of({}, pass).in_draws);
}

/// Minimises a loss () by Adam with gradients clipped to the norm 1 and a learning rate that falls
/// to 0 as half a cosine. Returns the loss of each step; throws if a number is not finite.
std::vector<double> descend(const std::vector<NamedParameter>& parameters, std::uint64_t steps,
                            double largest_rate, std::uint64_t warmup,
                            const std::function<Var(Tape& tape, std::uint64_t step)>& loss) {
  if (parameters.empty()) return {};
  const auto optimizer =
      make_optimizer({.kind = "adam", .beta2 = 0.99, .weight_decay = 0}, parameters);
  std::vector<double> losses;
  std::vector<Tensor> initial;
  for (const NamedParameter& named : parameters) initial.push_back(named.parameter->value());
  for (std::uint64_t step = 0; step < steps; ++step) {
    optimizer->zero_gradients();
    Tape tape;
    const Var value = loss(tape, step);
    losses.push_back(double(value.value().data()[0]));
    tape.backward(value);
    if (!std::isfinite(losses.back()) || !std::isfinite(clip_by_norm(parameters, 1.0)))
      throw_lost_step(step, parameters, initial,
                      [&](Tape& again) { again.backward(loss(again, step)); });
    optimizer->step(learning_rate({.kind = "cosine", .warmup = warmup}, largest_rate, step, steps));
  }
  return losses;
}

double relative_error(const std::vector<double>& estimate, const std::vector<double>& exact) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += std::pow(estimate[i] - exact[i], 2);
    size += exact[i] * exact[i];
  }
  return std::sqrt(error / size);
}

double error_of_draws(const char* when, SpectralDensity& density, const KernelPoints& points) {
  const auto kernel = [&](Tape& tape) { return kernel_of(tape, density, points.delta); };
  const Tensor values = evaluated(kernel);
  const double error = relative_error({values.begin(), values.end()}, points.values);
  if (!std::isfinite(error)) throw_lost(when, fault_of({.recording = false}, kernel), true);
  return error;
}

std::optional<double> error_of_closed_form(SpectralDensity& density, const KernelPoints& points) {
  const PointFunction kernel = density.kernel(0);
  if (!kernel) return {};
  std::vector<double> values;
  for (std::size_t i = 0; i < points.values.size(); ++i)
    values.push_back(kernel(row_of(points.delta, i).data()));
  return relative_error(values, points.values);
}

void copy_parameters(Module& from, Module& to) {
  const auto source = parameters_of(from), target = parameters_of(to);
  for (std::size_t i = 0; i < source.size(); ++i)
    if (source[i].parameter->shape() == target[i].parameter->shape())
      target[i].parameter->value() = source[i].parameter->value();
}

/// Exact kernel with rows that sum to 1, and the logarithms of the sums.
struct Target {
  Tensor q, k;      // (1, n, 1, d)
  Tensor weights;   // (n, n')
  Tensor log_sums;  // (n, 1)
  double size = 0;  // sum of squares of the weights
};

using LogKernel = std::function<double(const std::vector<double>& q, const std::vector<double>& k)>;

Target target_of(const LogKernel& log_kernel, const SampleBlock& block) {
  const std::size_t n = block.q.shape()[0], s = block.k.shape()[0];
  Target target{as_tokens(block.q), as_tokens(block.k), uninitialized({n, s}),
                uninitialized({n, 1})};
  std::vector<double> row(s);
  for (std::size_t i = 0; i < n; ++i) {
    const std::vector<double> q = row_of(block.q, i);
    for (std::size_t j = 0; j < s; ++j) row[j] = log_kernel(q, row_of(block.k, j));
    target.log_sums.data()[i] = real(to_softmax(row));
    for (std::size_t j = 0; j < s; ++j) {
      target.weights.data()[i * s + j] = real(row[j]);
      target.size += row[j] * row[j];
    }
  }
  return target;
}

/// Returns the summed squared error of the estimated rows, relative. -> ()
Var error_of(Tape& tape, FeatureMap& map, const Target& target) {
  const Features query = map.queries(tape, tape.view(target.q));
  const Features key = map.keys(tape, tape.view(target.k));
  const std::size_t F = query.shape()[3];
  Var q = reshape(query.values(), {target.weights.shape()[0], F});
  Var k = reshape(key.values(), {target.weights.shape()[1], F});
  const Var log_sums = tape.view(target.log_sums);
  if (query.scale == FeatureScale::logarithmic) {
    // A constant that cancels; then no exponent of a key exceeds 0.
    const double unit = double(*std::max_element(k.data(), k.data() + k.size()));
    q = exp(q - log_sums + unit);
    k = exp(k - unit);
  } else {
    q = q * exp(-log_sums);
  }
  return sum(square(matmul_nt(q, k) - tape.view(target.weights))) * (1 / target.size);
}

LogKernel log_kernel_of(FeatureMap& map, const SampleBlock& block) {
  if (map.kernel(row_of(block.q, 0), row_of(block.k, 0), 0))
    return [&map](const std::vector<double>& q, const std::vector<double>& k) {
      return std::log(std::max(*map.kernel(q, k, 0), 1e-300));
    };
  if (auto* weighted = dynamic_cast<WeightedMap*>(&map))
    return log_kernel_of(weighted->map(), block);
  return softmax_exponent;
}

}  // namespace

std::vector<std::string> target_kernels() {
  std::vector<std::string> names;
  for (const auto& [name, kernel] : kernels) names.push_back(name);
  return names;
}

std::function<double(const double*, std::size_t)> target_kernel(const std::string& name) {
  for (const auto& [known, kernel] : kernels)
    if (name == known)
      return [kernel = kernel](const double* delta, std::size_t d) {
        return kernel(delta, length_of(delta, d));
      };
  throw std::invalid_argument(fmt::format("--target {}: must be a .csv or .npy file or one of {}",
                                          name, joined(target_kernels())));
}

KernelPoints sample_kernel(const std::string& name, std::size_t n, std::size_t d, double reach,
                           std::uint64_t seed) {
  const auto kernel = target_kernel(name);
  const RandomFunction random{seed, Purpose::sampling, stream_of("kernel points")};
  KernelPoints points{uninitialized({n, d}), std::vector<double>(n)};
  std::vector<double> delta(d);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) delta[j] = random.normal(i * (d + 1) + j);
    const double length = reach * random.uniform(i * (d + 1) + d) / length_of(delta.data(), d);
    for (std::size_t j = 0; j < d; ++j) points.delta.data()[i * d + j] = real(delta[j] * length);
    points.values[i] = kernel(row_of(points.delta, i).data(), d);
  }
  return points;
}

KernelPoints read_kernel(const std::string& file) {
  ReadOptions how;
  how.csv.if_missing = "fill it in, or remove the row";
  const xt::xarray<double> rows = read_array(file, how).values;
  if (rows.dimension() != 2 || rows.shape(1) < 2)
    throw DataError(
        fmt::format("{}: must have a column of delta per dimension, and one of k", file));
  const std::size_t count = rows.shape(0), d = rows.shape(1) - 1;
  if (count < 8) throw DataError(fmt::format("{}: has {} points; give at least 8", file, count));
  KernelPoints points{uninitialized({count, d}), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < d; ++j) points.delta(i, j) = real(rows(i, j));
    points.values[i] = rows(i, d);
    for (std::size_t j = 0; j <= d; ++j)
      if (!std::isfinite(rows(i, j)))
        throw DataError(fmt::format("{}: row {} has a number that is not finite", file, i));
  }
  return points;
}

Var kernel_of(Tape& tape, SpectralDensity& density, const Tensor& delta) {
  Var draws;
  try {
    draws = density.draws(tape);
  } catch (const NonFiniteError& error) {
    throw InfiniteDraws(error.what());
  }
  const Var w = reshape(slice(draws, 0, 0, 1), {draws.dim(1), draws.dim(2)});
  return mean(cos(matmul_nt(tape.view(delta), w)), {-1});
}

SplitPoints split(const KernelPoints& points) {
  const std::size_t n = points.values.size(), d = points.delta.shape()[1];
  SplitPoints parts{{uninitialized({(n + 1) / 2, d}), {}}, {uninitialized({n / 2, d}), {}}};
  for (std::size_t i = 0; i < n; ++i) {
    KernelPoints& part = i % 2 == 0 ? parts.train : parts.held_out;
    std::copy_n(points.delta.data() + i * d, d, part.delta.data() + part.values.size() * d);
    part.values.push_back(points.values[i]);
  }
  return parts;
}

DensityFit fit_density(SpectralDensity& density, SpectralDensity& many, const KernelPoints& train,
                       const KernelPoints& held_out, const FitOptions& options) {
  DensityFit fit;
  fit.before = error_of_draws("before the fit", density, held_out);
  Tensor wanted = uninitialized({train.values.size()});
  std::copy(train.values.begin(), train.values.end(), wanted.data());
  double size = 0;
  for (const double value : train.values) size += value * value / double(train.values.size());
  const auto loss = [&](Tape& tape, std::uint64_t step) {
    tape.training = true;
    tape.seed = options.seed;
    tape.step = step;
    return mean(square(kernel_of(tape, density, train.delta) - tape.view(wanted))) * (1 / size);
  };
  fit.losses = descend(parameters_of(density), options.steps, options.learning_rate, 20, loss);
  copy_parameters(density, many);
  fit.of_draws = error_of_draws("after the fit", density, held_out);
  fit.of_density = error_of_draws("fresh draws after the fit", many, held_out);
  fit.closed_form = error_of_closed_form(density, held_out);
  return fit;
}

double kernel_error(FeatureMap& map, const SampleBlock& block) {
  const Target target = target_of(log_kernel_of(map, block), block);
  const Tensor error = evaluated([&](Tape& tape) { return error_of(tape, map, target); });
  return std::sqrt(double(error.data()[0]));
}

std::optional<double> expected_kernel_error(FeatureMap& map, const SampleBlock& block) {
  const Target target = target_of(log_kernel_of(map, block), block);
  const std::size_t n = block.q.shape()[0], s = block.k.shape()[0];
  double square = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::vector<double> q = row_of(block.q, i);
    for (std::size_t j = 0; j < s; ++j) {
      const auto variance = map.variance(q, row_of(block.k, j), 0);
      if (!variance) return {};
      square += *variance * std::exp(-2 * double(target.log_sums.data()[i]));
    }
  }
  return std::sqrt(square / target.size);
}

std::size_t fit_map(FeatureMap& map, const SampleBlock& train, const MapFitOptions& options) {
  const Target target = target_of(log_kernel_of(map, train), train);
  auto parameters = parameters_of(map);
  if (!options.density)
    std::erase_if(parameters, [](const NamedParameter& named) {
      return named.name.find("density") != std::string::npos ||
             named.name.find("frequencies") != std::string::npos;
    });
  descend(parameters, options.steps, options.learning_rate, 10,
          [&](Tape& tape, std::uint64_t) { return error_of(tape, map, target); });
  std::size_t fitted = 0;
  for (const NamedParameter& named : parameters) fitted += named.parameter->value().size();
  return fitted;
}

}  // namespace bochner
