#include <bochner/autodiff/ops.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/spectral/densities.hpp>
#include <bochner/layers/spectral/learned_spline.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns |z| of each row. (H, m, d) -> (H, m, 1)
Tensor lengths(const Tensor& z) {
  const std::size_t d = z.shape()[2];
  Tensor length = uninitialized({z.shape()[0], z.shape()[1], 1});
  for (std::size_t i = 0; i < length.size(); ++i)
    length.data()[i] = real(std::sqrt(squared_length(z.data() + i * d, d)));
  return length;
}

/// s = r z / |z|: uniform directions; r is a function of |z|, which keeps the draws' structure.
class IsotropicDensity : public LocationScaleDensity {
 public:
  using LocationScaleDensity::LocationScaleDensity;

 protected:
  Var standardized(Tape& tape, const Var& noise) final {
    const Tensor length = lengths(noise.value());
    return noise / tape.constant(length) * radius(tape, length);
  }

  Characteristic standard_characteristic(std::size_t head) final {
    std::vector<WeightedPoint> radii = chi_quadrature(dim());
    const auto radius = radius_of(head);
    for (WeightedPoint& r : radii) r.value = radius(r.value);
    return [d = dim(), radii = std::move(radii)](const double* t) {
      const double length = std::sqrt(squared_length(t, d));
      double sum = 0;
      for (const WeightedPoint& r : radii)
        sum += r.weight * sphere_characteristic(double(d), r.value * length);
      return sum;
    };
  }

  PointFunction standard_log_density(std::size_t head) final {
    return [d = dim(), log_radius = log_radius_density(head)](const double* s) {
      const double r = std::sqrt(squared_radius(s, d));
      return log_radius(r) - log_sphere_area(d) - (double(d) - 1) * std::log(r);
    };
  }

  Var standard_log_densities(Tape& tape, const Var& s) final {
    const Var r = sqrt(squared_radii(s));
    return log_radius_densities(tape, r) - log(r) * (double(dim()) - 1) - log_sphere_area(dim());
  }

  /// Returns the radii for |z|. (H, m, 1) -> (H, m, 1)
  virtual Var radius(Tape& tape, const Tensor& length) = 0;
  /// Returns the radius for a number, in double.
  virtual std::function<double(double)> radius_of(std::size_t head) = 0;
  /// Returns ln of the density of the radius.
  virtual std::function<double(double)> log_radius_density(std::size_t head) = 0;
  /// Returns ln of the density of radii on the tape. (H, m, 1) -> (H, m, 1)
  virtual Var log_radius_densities(Tape& tape, const Var& radius) = 0;
};

/// Returns the normal score of a length under chi_d.
double chi_score(std::size_t d, double length) {
  return quantile::gamma_score(double(d) / 2, length * length / 2);
}

/// Returns ln of the scale that gives each of d coordinates variance 1: E r^2 = d.
double log_unit(double shape, std::size_t d) {
  return (std::log(double(d)) - std::log(shape) - std::log(shape + 1)) / 2;
}

/// Returns ln of the density of the radius.
ShapedFunction log_gamma_radius(double a, std::size_t d) {
  const double unit = log_unit(a, d), unit_slope = -(1 / a + 1 / (a + 1)) / 2;
  const double constant = -std::lgamma(a) - unit, slope = -special::digamma(a) - unit_slope;
  return [=](double r) {
    const double log_ratio = std::log(r) - unit, ratio = std::exp(log_ratio);
    return ShapedValue{(a - 1) * log_ratio - ratio + constant, (a - 1 - ratio) / r,
                       log_ratio - (a - 1 - ratio) * unit_slope + slope};
  };
}

/// Gamma distribution of the radius with learned shape, scaled to variance 1 per coordinate.
class GammaDensity : public IsotropicDensity {
 public:
  explicit GammaDensity(const DensitySpec& spec) : GammaDensity(spec, spec.shape, true) {}

  void visit(Visitor& visitor) override {
    if (learned_) visitor("log_shape", log_shape_);
    IsotropicDensity::visit(visitor);
  }

 protected:
  GammaDensity(const DensitySpec& spec, double shape, bool learned)
      : IsotropicDensity(spec),
        learned_(learned),
        log_shape_(filled({spec.heads, 1, 1}, real(std::log(shape)))) {
    require(shape > 0, "gamma", "shape = ", shape, " must be above 0");
  }

  Var radius(Tape& tape, const Tensor& length) override {
    const Shaped now = shaped(tape);
    Tensor score = length;
    for (real& x : score) x = real(chi_score(dim(), double(x)));
    return exp(log_gamma_quantile(now.shape, score) + now.log_unit);
  }

  Var log_radius_densities(Tape& tape, const Var& radius) override {
    return by_shape("log_gamma_radii", radius, shaped(tape).shape,
                    [d = dim()](double shape) { return log_gamma_radius(shape, d); });
  }

  std::function<double(double)> radius_of(std::size_t head) override {
    return [a = shape(head), d = dim()](double length) {
      return std::exp(quantile::log_gamma(a, chi_score(d, length)) + log_unit(a, d));
    };
  }

  std::function<double(double)> log_radius_density(std::size_t head) override {
    return [of = log_gamma_radius(shape(head), dim())](double r) { return of(r).value; };
  }

  std::optional<double> standard_entropy(std::size_t head) override {
    const double a = shape(head), unit = log_unit(a, dim()), digamma = special::digamma(a);
    return a + unit + std::lgamma(a) + (1 - a) * digamma + log_sphere_area(dim()) +
           (double(dim()) - 1) * (digamma + unit);
  }

 private:
  struct Shaped {
    Var shape, log_unit;  // (H, 1, 1)
  };
  Shaped shaped(Tape& tape) {
    const Var log_shape = learned_ ? tape(log_shape_) : tape.view(log_shape_.value());
    const Var shape = exp(log_shape);
    return {shape, (log_shape + log(shape + 1)) * -0.5 + 0.5 * std::log(double(dim()))};
  }
  double shape(std::size_t head) const { return std::exp(double(log_shape_.value().data()[head])); }

  bool learned_;
  Parameter log_shape_;  // (H, 1, 1)
};

/// Exponential distribution of the radius.
class ExponentialDensity : public GammaDensity {
 public:
  explicit ExponentialDensity(const DensitySpec& spec) : GammaDensity(spec, 1, false) {}
};

/// Returns a length that hardly any noise exceeds.
double max_length(std::size_t d) { return std::sqrt(double(d)) + 4; }

/// Returns bins of equal probability under chi_d, as fractions of max_length(d).
std::vector<double> equal_probability_bins(std::size_t count, std::size_t d) {
  std::vector<double> bins;
  double last = 0;
  for (std::size_t k = 1; k < count; ++k) {
    const double score = quantile::normal(double(k) / double(count));
    const double edge = std::sqrt(2 * std::exp(quantile::log_gamma(double(d) / 2, score)));
    bins.push_back((edge - last) / max_length(d));
    last = edge;
  }
  bins.push_back(1 - last / max_length(d));
  return bins;
}

/// The radius is a learned monotone function of |z|, chi_d distributed; initially Gaussian.
class RadialDensity : public IsotropicDensity {
 public:
  explicit RadialDensity(const DensitySpec& spec)
      : IsotropicDensity(spec),
        warp_(spec.heads, 1, 0, max_length(spec.dim),
              equal_probability_bins(spec.knots, spec.dim)) {}

  void visit(Visitor& visitor) override {
    visitor("radius", warp_);
    IsotropicDensity::visit(visitor);
  }

 protected:
  Var radius(Tape& tape, const Tensor& length) override {
    return warp_.forward(tape, tape.constant(length));
  }

  std::function<double(double)> radius_of(std::size_t head) override {
    return [warp = warp_.curve(head, 0)](double length) { return warp.at(length).value; };
  }

  std::function<double(double)> log_radius_density(std::size_t head) override {
    return [warp = warp_.curve(head, 0), d = dim()](double r) {
      const auto [length, slope] = warp.inverse(r);
      return log_normal_density(d, length * length) + log_sphere_area(d) +
             (double(d) - 1) * std::log(length) - std::log(slope);
    };
  }

  Var log_radius_densities(Tape& tape, const Var& radius) override {
    const auto [length, log_slope] = warp_.inverse(tape, radius);
    const double d = double(dim());
    return log(length) * (d - 1) - square(length) * 0.5 - log_slope +
           (log_normal_density(dim(), 0) + log_sphere_area(dim()));
  }

 private:
  LearnedSpline warp_;
};

}  // namespace

void add_isotropic(Densities& all) {
  all.add("gamma", make<GammaDensity>);
  all.add("exponential", make<ExponentialDensity>);
  all.add("radial", make<RadialDensity>);
}

}  // namespace bochner::inline BOCHNER_PRECISION
