#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/base/numeric/special_functions.hpp>
#include <bochner/layers/spectral/densities.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Fewer degrees of freedom would overflow float.
constexpr double min_degrees = 0.5;

Var points(const Var& noise, std::size_t d) { return slice(noise, -1, 0, d); }
/// Returns the auxiliary coordinate. (H, m, d + 1) -> (H, m, 1)
Tensor score(const Var& noise, std::size_t d) { return slice(noise, -1, d, d + 1).value(); }

/// Returns ln of the density of Student's t with 2 half degrees of freedom, as a function of |s|^2.
ShapedFunction log_student(double half, double D) {
  const double n = 2 * half, all = half + D / 2;
  const double constant =
      std::lgamma(all) - std::lgamma(half) - D / 2 * std::log(n * std::numbers::pi);
  const double slope = special::digamma(all) - special::digamma(half) - D / n;
  return [=](double square) {
    const double log_factor = std::log1p(square / n);
    return ShapedValue{constant - all * log_factor, -all / (n + square),
                       slope - log_factor + all * square / (half * (n + square))};
  };
}

/// Multivariate t: s = z / sqrt(g), g ~ chi^2 / degrees with learned degrees of freedom. The kernel
/// is Matern of order degrees / 2 with length scale 1 / scale per coordinate.
class StudentTDensity : public LocationScaleDensity {
 public:
  explicit StudentTDensity(const DensitySpec& spec) : StudentTDensity(spec, spec.degrees, true) {}

  void visit(Visitor& visitor) override {
    if (learned_) visitor("log_degrees", log_degrees_);
    LocationScaleDensity::visit(visitor);
  }

  std::unique_ptr<KernelCurve> curve(std::size_t head) const override {
    const auto [mean, log_scale] = axes(head);
    if (!learned_) return cauchy_curve(mean[0], log_scale[0]);
    return student_curve(min_degrees, double(log_degrees_.value().data()[head]), mean[0],
                         log_scale[0]);
  }

 protected:
  StudentTDensity(const DensitySpec& spec, double degrees, bool learned)
      : LocationScaleDensity(spec, 1),
        learned_(learned),
        log_degrees_(filled({spec.heads, 1, 1}, real(std::log(degrees - min_degrees)))) {
    require(degrees > min_degrees, "student_t", "degrees = ", degrees, " must be above ",
            min_degrees);
  }

  Var standardized(Tape& tape, const Var& noise) override {
    const Var half = half_degrees(tape);
    const Var log_chi = log_gamma_quantile(half, score(noise, dim()));
    return points(noise, dim()) * exp((log(half) - log_chi) * 0.5);
  }

  Characteristic standard_characteristic(std::size_t head) override {
    return [d = dim(), n = degrees(head)](const double* t) {
      return matern(n / 2, std::sqrt(n * squared_length(t, d)));
    };
  }

  PointFunction standard_log_density(std::size_t head) override {
    return [d = dim(), of = log_student(degrees(head) / 2, double(dim()))](const double* s) {
      return of(squared_length(s, d)).value;
    };
  }

  PointFunction standard_log_marginal(std::size_t head, std::size_t) override {
    return [of = log_student(degrees(head) / 2, 1)](const double* s) { return of(*s * *s).value; };
  }

  Var standard_log_densities(Tape& tape, const Var& s) override {
    return by_shape("log_student_densities", sum(square(s), -1, keep), half_degrees(tape),
                    [D = double(dim())](double half) { return log_student(half, D); });
  }

  std::optional<double> standard_entropy(std::size_t head) override {
    const double D = double(dim()), n = degrees(head);
    return std::lgamma(n / 2) - std::lgamma((n + D) / 2) + D / 2 * std::log(n * std::numbers::pi) +
           (n + D) / 2 * (special::digamma((n + D) / 2) - special::digamma(n / 2));
  }

 private:
  /// -> (H, 1, 1)
  Var half_degrees(Tape& tape) {
    const Var free = learned_ ? tape(log_degrees_) : tape.view(log_degrees_.value());
    return exp(free) * 0.5 + min_degrees / 2;
  }
  double degrees(std::size_t head) const {
    return min_degrees + std::exp(double(log_degrees_.value().data()[head]));
  }

  bool learned_;
  Parameter log_degrees_;  // (H, 1, 1): degrees above min_degrees
};

/// Student's t with one degree of freedom. k(delta) = exp(-|scale delta|) at mean 0.
class CauchyDensity : public StudentTDensity {
 public:
  explicit CauchyDensity(const DensitySpec& spec) : StudentTDensity(spec, 1, false) {}
};

/// Symmetric multivariate Laplace distribution of variance 1: s = z sqrt(e), e ~ Exp(1). k(delta) =
/// 1 / (1 + |scale delta|^2 / 2) at mean 0, the Cauchy or rational quadratic kernel.
class LaplaceDensity : public LocationScaleDensity {
 public:
  explicit LaplaceDensity(const DensitySpec& spec) : LocationScaleDensity(spec, 1) {}

  std::unique_ptr<KernelCurve> curve(std::size_t head) const override {
    const auto [mean, log_scale] = axes(head);
    return laplace_curve(mean[0], log_scale[0]);
  }

 protected:
  Var standardized(Tape& tape, const Var& noise) override {
    Tensor root = score(noise, dim());
    for (real& x : root) x = real(std::exp(quantile::log_gamma(1, double(x)) / 2));
    return points(noise, dim()) * tape.constant(std::move(root));
  }

  Characteristic standard_characteristic(std::size_t) override {
    return [d = dim()](const double* t) { return 1 / (1 + squared_length(t, d) / 2); };
  }

  /// Kotz, Kozubowski, Podgorski, "The Laplace distribution and generalizations", 2001, chapter 5.
  PointFunction standard_log_density(std::size_t) override {
    return [d = dim()](const double* s) {
      const double order = 1 - double(d) / 2, square = squared_radius(s, d);
      return std::numbers::ln2 - double(d) / 2 * log_two_pi + order / 2 * std::log(square / 2) +
             log_bessel_k(std::abs(order), std::sqrt(2 * square));
    };
  }

  PointFunction standard_log_marginal(std::size_t, std::size_t) override {
    return
        [](const double* s) { return -std::numbers::sqrt2 * std::abs(*s) - std::numbers::ln2 / 2; };
  }

  Var standard_log_densities(Tape&, const Var& s) override {
    const double half = double(dim()) / 2, order = 1 - half;
    const Var square_length = squared_radii(s);
    return log(square_length * 0.5) * (order / 2) +
           log_bessel_k_function(std::abs(order), sqrt(square_length * 2)) +
           (std::numbers::ln2 - half * log_two_pi);
  }
};

}  // namespace

void add_heavy_tailed(Densities& all) {
  all.add("student_t", make<StudentTDensity>);
  all.add("cauchy", make<CauchyDensity>);
  all.add("laplace", make<LaplaceDensity>);
}

}  // namespace bochner::inline BOCHNER_PRECISION
