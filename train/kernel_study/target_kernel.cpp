#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bochner/autodiff/compute/philox.hpp>
#include <bochner/data/errors.hpp>
#include <bochner/data/mapped_file.hpp>
#include <bochner/data/npy.hpp>
#include <bochner/train/kernel_study/target_kernel.hpp>
#include <charconv>
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

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool read_number(std::string_view text, double& number) {
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

KernelPoints points_of(const std::string& file, const std::vector<double>& deltas,
                       std::vector<double> values) {
  if (values.size() < 8)
    throw DataError(fmt::format("{}: holds {} points; give at least 8", file, values.size()));
  KernelPoints points{uninitialized({values.size(), 1}), std::move(values)};
  std::copy(deltas.begin(), deltas.end(), points.delta.data());
  return points;
}

KernelPoints read_csv(const std::string& file) {
  const MappedFile mapped(file);
  std::string_view text(reinterpret_cast<const char*>(mapped.bytes().data()),
                        mapped.bytes().size());
  std::vector<double> deltas, values;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (trimmed(line).empty()) continue;
    const std::size_t comma = std::min(line.find(','), line.size());
    double delta = 0, value = 0;
    if (read_number(line.substr(0, comma), delta) && comma < line.size() &&
        read_number(line.substr(comma + 1), value)) {
      deltas.push_back(delta);
      values.push_back(value);
    } else if (number > 1) {  // the first line may name the columns
      throw DataError(fmt::format("{}:{}: must be two numbers, \"delta,k\"", file, number));
    }
  }
  return points_of(file, deltas, std::move(values));
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
  if (!file.ends_with(".npy")) return read_csv(file);
  const Tensor rows = read_npy(file);
  if (rows.shape()[1] != 2)
    throw DataError(
        fmt::format("{}: has {} columns; it must have two, delta and k", file, rows.shape()[1]));
  std::vector<double> deltas, values;
  for (std::size_t i = 0; i < rows.shape()[0]; ++i) {
    deltas.push_back(double(rows.data()[2 * i]));
    values.push_back(double(rows.data()[2 * i + 1]));
  }
  return points_of(file, deltas, std::move(values));
}

}  // namespace bochner::inline BOCHNER_PRECISION
