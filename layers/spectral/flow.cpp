#include <bochner/layers/spectral/densities.hpp>
#include <bochner/layers/spectral/point.hpp>
#include <bochner/layers/spectral/quadrature.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// The splines bend [-reach, reach]; 1 of 16,000 normal numbers lies outside.
constexpr double reach = 4;

using Curve = LearnedSpline::Curve;

std::vector<Curve> curves(LearnedSpline& splines, std::size_t head, std::size_t d) {
  std::vector<Curve> all;
  for (std::size_t j = 0; j < d; ++j) all.push_back(splines.curve(head, j));
  return all;
}

}  // namespace

FlowDensity::FlowDensity(const DensitySpec& spec)
    : LocationScaleDensity(spec),
      marginals_(spec.heads, spec.dim, -reach, reach,
                 std::vector<double>(spec.knots, 1 / double(spec.knots))) {
  for (std::size_t i = 0; i < spec.layers; ++i) {
    couplings_.push_back(std::make_unique<Coupling>(spec.heads, spec.dim, spec.hidden, i % 2 == 1));
  }
}

Var FlowDensity::standardized(Tape& tape, const Var& noise) {
  Var x = marginals_.forward(tape, noise);
  for (auto& coupling : couplings_) x = coupling->forward(tape, x);
  return x;
}

void FlowDensity::visit(Visitor& visitor) {
  visitor("marginals", marginals_);
  visitor("couplings", couplings_);
  LocationScaleDensity::visit(visitor);
}

LocationScaleDensity::Characteristic FlowDensity::standard_characteristic(std::size_t head) {
  if (!couplings_.empty()) return {};
  const std::vector<WeightedPoint> normal = normal_quadrature();
  std::vector<std::vector<WeightedPoint>> coordinates;
  for (const Curve& curve : curves(marginals_, head, dim())) {
    coordinates.push_back(normal);
    for (WeightedPoint& point : coordinates.back()) point.value = curve.at(point.value).value;
  }
  return [coordinates = std::move(coordinates)](const double* t) {
    std::complex<double> product = 1;
    for (std::size_t j = 0; j < coordinates.size(); ++j) {
      std::complex<double> sum = 0;
      for (const WeightedPoint& s : coordinates[j]) sum += std::polar(s.weight, t[j] * s.value);
      product *= sum;
    }
    return product;
  };
}

PointFunction FlowDensity::standard_log_density(std::size_t head) {
  std::vector<Coupling::Inverse> undo;
  for (auto& coupling : couplings_) undo.push_back(coupling->inverse(head));
  return [undo, splines = curves(marginals_, head, dim())](const double* s) {
    std::vector<double> x(s, s + splines.size());
    double log_volume = 0;
    for (std::size_t i = undo.size(); i-- > 0;) log_volume += undo[i](x.data());
    for (std::size_t j = 0; j < x.size(); ++j) {
      const auto [z, slope] = splines[j].inverse(x[j]);
      x[j] = z;
      log_volume += std::log(slope);
    }
    return log_normal_density(x.size(), squared_length(x.data(), x.size())) - log_volume;
  };
}

}  // namespace bochner::inline BOCHNER_PRECISION
