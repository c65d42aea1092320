#pragma once
/// Built-in densities. z is standard normal noise; k(delta) = E cos(omega . delta).

#include <algorithm>
#include <bochner/autodiff/tape.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <complex>
#include <functional>

namespace bochner::inline BOCHNER_PRECISION {

/// omega = mean + exp(log_scale) * s for standardized points s. mean, log_scale (H, 1, d).
class LocationScaleDensity : public SpectralDensity {
 public:
  explicit LocationScaleDensity(const DensitySpec& spec, std::size_t auxiliary = 0);
  Var sample(Tape& tape, const Var& noise) final;
  void visit(Visitor& visitor) override;
  PointFunction kernel(std::size_t head) final;
  PointFunction log_density(std::size_t head) final;
  PointFunction log_marginal(std::size_t head, std::size_t coordinate) final;
  Var log_densities(Tape& tape, const Var& points) final;
  std::optional<double> entropy(std::size_t head) final;

 protected:
  /// Returns points s. (H, m, d + auxiliary) -> (H, m, d)
  virtual Var standardized(Tape& tape, const Var& noise) = 0;
  /// Characteristic function E exp(i s . t).
  using Characteristic = std::function<std::complex<double>(const double* t)>;
  virtual Characteristic standard_characteristic(std::size_t) { return {}; }
  virtual PointFunction standard_log_density(std::size_t) { return {}; }
  /// Returns ln of the density of one coordinate of s.
  virtual PointFunction standard_log_marginal(std::size_t head, std::size_t) {
    return dim() == 1 ? standard_log_density(head) : PointFunction();
  }
  /// Returns ln of the density of s, on the tape. (H, m, d) -> (H, m, 1)
  virtual Var standard_log_densities(Tape& tape, const Var& s) {
    return SpectralDensity::log_densities(tape, s);
  }
  virtual std::optional<double> standard_entropy(std::size_t) { return {}; }
  std::size_t dim() const { return mean_.shape()[2]; }
  GaussianAxes axes(std::size_t head) const;
  void set_log_scale(const std::vector<double>& log_scale) final;

 private:
  Parameter mean_, log_scale_;
};

/// Returns the values of one head of a (H, ..) parameter.
inline std::vector<double> values_of(const Parameter& parameter, std::size_t head) {
  const std::size_t count = parameter.value().size() / parameter.shape()[0];
  const real* first = parameter.value().data() + head * count;
  return {first, first + count};
}

/// Returns ln of the density of N(0, I_d). (.., d) -> (.., 1)
Var log_normal_densities(const Var& x);
/// Returns |s|^2 of each point, at least min_square. (.., d) -> (.., 1)
Var squared_radii(const Var& s);
/// Returns |s|^2 of one point of R^d in double, at least min_square.
inline double squared_radius(const double* s, std::size_t d) {
  return std::max(squared_length(s, d), min_square);
}
/// Value of a function of a number and its head's shape, and both derivatives.
struct ShapedValue {
  double value, by_x, by_shape;
};
/// Function for a fixed shape.
using ShapedFunction = std::function<ShapedValue(double x)>;
/// Computes f(shape)(x) in double: large terms cancel. x (H, n, 1), shape (H, 1, 1) -> (H, n, 1)
Var by_shape(const char* name, const Var& x, const Var& shape,
             const std::function<ShapedFunction(double shape)>& f);
/// Returns ln K_order(x), see closed_forms.hpp.
Var log_bessel_k_function(double order, const Var& x);

}  // namespace bochner::inline BOCHNER_PRECISION
