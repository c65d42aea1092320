#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/compute/philox.hpp>
#include <bochner/data/files/errors.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/laboratory/target_kernel.hpp>
#include <cmath>
#include <numbers>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using Radial = double (*)(double r);

constexpr std::pair<const char*, Radial> radial_kernels[] = {
    {"gaussian", [](double r) { return std::exp(-r * r / 2); }},
    {"laplace", [](double r) { return std::exp(-r); }},
    {"cauchy", [](double r) { return 1 / (1 + r * r); }},
    {"matern32",
     [](double r) { return (1 + std::numbers::sqrt3 * r) * std::exp(-std::numbers::sqrt3 * r); }},
    {"matern52", [](double r) {
       const double s = std::sqrt(5.0) * r;
       return (1 + s + s * s / 3) * std::exp(-s);
     }}};
constexpr const char* periodic_mixture = "periodic_mixture";

double length_of(const double* delta, std::size_t d) {
  double square = 0;
  for (std::size_t i = 0; i < d; ++i) square += delta[i] * delta[i];
  return std::sqrt(square);
}

}  // namespace

std::vector<std::string> target_kernels() {
  std::vector<std::string> names;
  for (const auto& [name, radial] : radial_kernels) names.push_back(name);
  names.push_back(periodic_mixture);
  return names;
}

std::function<double(const double*, std::size_t)> target_kernel(const std::string& name) {
  for (const auto& [known, radial] : radial_kernels)
    if (name == known)
      return [radial = radial](const double* delta, std::size_t d) {
        return radial(length_of(delta, d));
      };
  if (name != periodic_mixture)
    throw std::invalid_argument(fmt::format("--target {}: must be a .csv or .npy file or one of {}",
                                            name, fmt::join(target_kernels(), ", ")));
  return [](const double* delta, std::size_t d) {
    const double r = length_of(delta, d);
    return 0.6 * std::exp(-r * r / 2) + 0.4 * std::exp(-r * r / 32) * std::cos(3 * delta[0]);
  };
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
    for (std::size_t j = 0; j < d; ++j) {
      points.delta.data()[i * d + j] = real(delta[j] * length);
      delta[j] = double(points.delta.data()[i * d + j]);
    }
    points.values[i] = kernel(delta.data(), d);
  }
  return points;
}

KernelPoints read_kernel(const std::string& file) {
  const xt::xarray<double> rows = read_array(file).values;
  if (rows.dimension() != 2 || rows.shape(1) != 2)
    throw DataError(fmt::format("{}: must have two columns, delta and k", file));
  const std::size_t count = rows.shape(0);
  if (count < 8) throw DataError(fmt::format("{}: holds {} points; give at least 8", file, count));
  KernelPoints points{uninitialized({count, 1}), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    points.delta.data()[i] = real(rows(i, 0));
    points.values[i] = rows(i, 1);
    if (!std::isfinite(rows(i, 0)) || !std::isfinite(rows(i, 1)))
      throw DataError(fmt::format("{}: row {} holds a number that is not finite", file, i));
  }
  return points;
}

}  // namespace bochner::inline BOCHNER_PRECISION
