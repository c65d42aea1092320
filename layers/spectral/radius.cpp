#include <bochner/autodiff/compute/special_functions.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/spectral/densities.hpp>
#include <bochner/layers/spectral/point.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// The normal score of a length under chi_d.
double chi_score(std::size_t d, double length) {
  return quantile::gamma_score(double(d) / 2, length * length / 2);
}

/// ln of the scale that gives the coordinates of d dimensions variance 1: E r^2 = d.
double log_unit(double shape, std::size_t d) {
  return (std::log(double(d)) - std::log(shape) - std::log(shape + 1)) / 2;
}

}  // namespace

GammaDensity::GammaDensity(const DensitySpec& spec, double shape, bool learned)
    : IsotropicDensity(spec),
      learned_(learned),
      log_shape_(filled({spec.heads, 1, 1}, real(std::log(shape)))) {
  require(shape > 0, "gamma", "shape must be more than 0: ", shape);
}

Var GammaDensity::radius(Tape& tape, const Tensor& length) {
  const Var log_shape = learned_ ? tape(log_shape_) : tape.view(log_shape_.value());
  const Var shape = exp(log_shape);
  Tensor score = length;
  for (real& x : score) x = real(chi_score(dim(), double(x)));
  const Var log_unit = (log_shape + log(shape + 1)) * -0.5 + 0.5 * std::log(double(dim()));
  return exp(log_gamma_quantile(shape, score) + log_unit);
}

void GammaDensity::visit(Visitor& visitor) {
  if (learned_) visitor("log_shape", log_shape_);
  IsotropicDensity::visit(visitor);
}

double GammaDensity::shape(std::size_t head) const {
  return std::exp(double(log_shape_.value().data()[head]));
}

std::function<double(double)> GammaDensity::radius_of(std::size_t head) {
  return [a = shape(head), d = dim()](double length) {
    return std::exp(quantile::log_gamma(a, chi_score(d, length)) + log_unit(a, d));
  };
}

std::function<double(double)> GammaDensity::log_radius_density(std::size_t head) {
  return [a = shape(head), unit = log_unit(shape(head), dim())](double r) {
    return (a - 1) * (std::log(r) - unit) - r * std::exp(-unit) - std::lgamma(a) - unit;
  };
}

std::optional<double> GammaDensity::standard_entropy(std::size_t head) {
  const double a = shape(head), unit = log_unit(a, dim()), digamma = special::digamma(a);
  return a + unit + std::lgamma(a) + (1 - a) * digamma + log_sphere_area(dim()) +
         (double(dim()) - 1) * (digamma + unit);
}

namespace {

/// Beyond this length hardly any noise lies.
double reach(std::size_t d) { return std::sqrt(double(d)) + 4; }

/// Bins that hold equal parts of chi_d, as fractions of the reach.
std::vector<double> equal_parts(std::size_t count, std::size_t d) {
  std::vector<double> bins;
  double last = 0;
  for (std::size_t k = 1; k < count; ++k) {
    const double score = quantile::normal(double(k) / double(count));
    const double edge = std::sqrt(2 * std::exp(quantile::log_gamma(double(d) / 2, score)));
    bins.push_back((edge - last) / reach(d));
    last = edge;
  }
  bins.push_back(1 - last / reach(d));
  return bins;
}

}  // namespace

RadialDensity::RadialDensity(const DensitySpec& spec)
    : IsotropicDensity(spec),
      warp_(spec.heads, 1, 0, reach(spec.dim), equal_parts(spec.knots, spec.dim)) {}

Var RadialDensity::radius(Tape& tape, const Tensor& length) {
  return warp_.forward(tape, tape.constant(length));
}

void RadialDensity::visit(Visitor& visitor) {
  visitor("radius", warp_);
  IsotropicDensity::visit(visitor);
}

std::function<double(double)> RadialDensity::radius_of(std::size_t head) {
  return [warp = warp_.curve(head, 0)](double length) { return warp.at(length).value; };
}

std::function<double(double)> RadialDensity::log_radius_density(std::size_t head) {
  return [warp = warp_.curve(head, 0), d = dim()](double r) {
    const auto [length, slope] = warp.inverse(r);
    return log_normal_density(d, length * length) + log_sphere_area(d) +
           (double(d) - 1) * std::log(length) - std::log(slope);
  };
}

}  // namespace bochner::inline BOCHNER_PRECISION
