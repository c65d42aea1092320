#pragma once
/// The built-in densities. z is the standard normal noise; k(delta) = E cos(omega . delta).

#include <bochner/layers/spectral/coupling.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <bochner/layers/spectral/learned_spline.hpp>
#include <complex>

namespace bochner::inline BOCHNER_PRECISION {

/// omega = mean + exp(log_scale) * s: a standardised point s of a family, moved and stretched in
/// every coordinate. mean and log_scale are (H, 1, d).
class LocationScaleDensity : public SpectralDensity {
 public:
  explicit LocationScaleDensity(const DensitySpec& spec, std::size_t auxiliary = 0);
  Var sample(Tape& tape, const Var& noise) final;
  void visit(Visitor& visitor) override;
  PointFunction kernel(std::size_t head) final;
  PointFunction log_density(std::size_t head) final;
  std::optional<double> entropy(std::size_t head) final;

 protected:
  /// (H, m, d + auxiliary) -> (H, m, d)
  virtual Var standardized(Tape& tape, const Var& noise) = 0;
  /// E exp(i s . t) as a function of t.
  using Characteristic = std::function<std::complex<double>(const double* t)>;
  virtual Characteristic standard_characteristic(std::size_t) { return {}; }
  virtual PointFunction standard_log_density(std::size_t) { return {}; }
  virtual std::optional<double> standard_entropy(std::size_t) { return {}; }
  std::size_t dim() const { return mean_.shape()[2]; }
  void set_log_scale(const std::vector<double>& log_scale) final;

 private:
  Parameter mean_, log_scale_;
};

/// s = z. k(delta) = cos(mean . delta) exp(-|scale delta|^2 / 2).
class GaussianDensity : public LocationScaleDensity {
 public:
  using LocationScaleDensity::LocationScaleDensity;

 protected:
  Var standardized(Tape& tape, const Var& noise) override;
  Characteristic standard_characteristic(std::size_t head) override;
  PointFunction standard_log_density(std::size_t head) override;
  std::optional<double> standard_entropy(std::size_t head) override;
};

/// omega = mean + L z, L lower triangular with a positive diagonal. k(delta) = cos(mean . delta)
/// exp(-|L^T delta|^2 / 2).
class FullGaussianDensity : public SpectralDensity {
 public:
  explicit FullGaussianDensity(const DensitySpec& spec);
  Var sample(Tape& tape, const Var& noise) override;
  void visit(Visitor& visitor) override;
  PointFunction kernel(std::size_t head) override;
  PointFunction log_density(std::size_t head) override;
  std::optional<double> entropy(std::size_t head) override;

 protected:
  void set_log_scale(const std::vector<double>& log_scale) override;

 private:
  struct Snapshot;
  Snapshot snapshot(std::size_t head) const;

  Parameter mean_;    // (H, 1, d)
  Parameter factor_;  // (H, d, d): L, the logarithm of its diagonal; the upper triangle is unused
};

/// Gaussians with learned weights: omega = mean_c + exp(log_scale_c) * z, the component c chosen by
/// Gumbel noise, softly: means and scales are averaged by softmax((logit + Gumbel) / temperature)
/// (Jang, Gu, Poole, 2017). Temperature 0 chooses hard, and the weights learn nothing. The closed
/// forms are those of hard choice: k(delta) = sum_c weight_c cos(mean_c . delta) exp(-|scale_c
/// delta|^2 / 2), the spectral mixture kernel of Wilson and Adams, 2013.
class MixtureDensity : public SpectralDensity {
 public:
  explicit MixtureDensity(const DensitySpec& spec);
  Var sample(Tape& tape, const Var& noise) override;
  void visit(Visitor& visitor) override;
  PointFunction kernel(std::size_t head) override;
  PointFunction log_density(std::size_t head) override;

 protected:
  void set_log_scale(const std::vector<double>& log_scale) override;

 private:
  struct Component;
  std::vector<Component> components(std::size_t head) const;

  double temperature_;
  Parameter mean_, log_scale_;  // (H, K, d)
  Parameter logits_;            // (H, 1, K)
};

/// s = z / sqrt(g), g ~ chi^2 / degrees with the learned degrees of freedom: multivariate t. Its
/// kernel is Matern's of order degrees / 2, with the length scale 1 / scale in each coordinate.
class StudentTDensity : public LocationScaleDensity {
 public:
  explicit StudentTDensity(const DensitySpec& spec) : StudentTDensity(spec, spec.degrees, true) {}
  void visit(Visitor& visitor) override;

 protected:
  StudentTDensity(const DensitySpec& spec, double degrees, bool learned);
  Var standardized(Tape& tape, const Var& noise) override;
  Characteristic standard_characteristic(std::size_t head) override;
  PointFunction standard_log_density(std::size_t head) override;
  std::optional<double> standard_entropy(std::size_t head) override;

 private:
  double degrees(std::size_t head) const;

  bool learned_;
  Parameter log_degrees_;  // (H, 1, 1): of the degrees above smallest_degrees
};

/// Student's t with one degree of freedom. k(delta) = exp(-|scale delta|) at mean 0.
class CauchyDensity : public StudentTDensity {
 public:
  explicit CauchyDensity(const DensitySpec& spec) : StudentTDensity(spec, 1, false) {}
};

/// s = z sqrt(e), e ~ Exp(1): the symmetric multivariate Laplace distribution, of variance 1.
/// k(delta) = 1 / (1 + |scale delta|^2 / 2) at mean 0, the Cauchy or rational quadratic kernel.
class LaplaceDensity : public LocationScaleDensity {
 public:
  explicit LaplaceDensity(const DensitySpec& spec) : LocationScaleDensity(spec, 1) {}

 protected:
  Var standardized(Tape& tape, const Var& noise) override;
  Characteristic standard_characteristic(std::size_t head) override;
  PointFunction standard_log_density(std::size_t head) override;
};

/// s = r z / |z|: uniform directions and a radius of its own distribution, which sees |z| and with
/// it the base draws.
class IsotropicDensity : public LocationScaleDensity {
 public:
  using LocationScaleDensity::LocationScaleDensity;

 protected:
  Var standardized(Tape& tape, const Var& noise) final;
  Characteristic standard_characteristic(std::size_t head) final;
  PointFunction standard_log_density(std::size_t head) final;
  /// The radii for |z|. (H, m, 1) -> (H, m, 1)
  virtual Var radius(Tape& tape, const Tensor& length) = 0;
  /// The same for a number, in double.
  virtual std::function<double(double)> radius_of(std::size_t head) = 0;
  /// ln of the density of the radius.
  virtual std::function<double(double)> log_radius_density(std::size_t head) = 0;
};

/// The radius has a gamma distribution with learned shape, scaled so that every coordinate has
/// variance 1.
class GammaDensity : public IsotropicDensity {
 public:
  explicit GammaDensity(const DensitySpec& spec) : GammaDensity(spec, spec.shape, true) {}
  void visit(Visitor& visitor) override;

 protected:
  GammaDensity(const DensitySpec& spec, double shape, bool learned);
  Var radius(Tape& tape, const Tensor& length) override;
  std::function<double(double)> radius_of(std::size_t head) override;
  std::function<double(double)> log_radius_density(std::size_t head) override;
  std::optional<double> standard_entropy(std::size_t head) override;

 private:
  double shape(std::size_t head) const;

  bool learned_;
  Parameter log_shape_;  // (H, 1, 1)
};

/// The radius has an exponential distribution.
class ExponentialDensity : public GammaDensity {
 public:
  explicit ExponentialDensity(const DensitySpec& spec) : GammaDensity(spec, 1, false) {}
};

/// The radius is a learned monotone function of |z|, whose quantile function is that of chi_d: the
/// Gaussian at the start.
class RadialDensity : public IsotropicDensity {
 public:
  explicit RadialDensity(const DensitySpec& spec);
  void visit(Visitor& visitor) override;

 protected:
  Var radius(Tape& tape, const Tensor& length) override;
  std::function<double(double)> radius_of(std::size_t head) override;
  std::function<double(double)> log_radius_density(std::size_t head) override;

 private:
  LearnedSpline warp_;
};

/// Inverse CDF by a flow: s_j = spline_j(z_j), a learned monotone function of each coordinate,
/// hence the quantile function spline_j(Phi^-1(u)); then `layers` coupling layers, each of which
/// moves and stretches one half of the coordinates by functions of the other. The Gaussian at the
/// start. A kernel in closed form only without coupling layers.
class FlowDensity : public LocationScaleDensity {
 public:
  explicit FlowDensity(const DensitySpec& spec);
  void visit(Visitor& visitor) override;

 protected:
  Var standardized(Tape& tape, const Var& noise) override;
  Characteristic standard_characteristic(std::size_t head) override;
  PointFunction standard_log_density(std::size_t head) override;

 private:
  LearnedSpline marginals_;
  std::vector<std::unique_ptr<Coupling>> couplings_;
};

/// The frequencies themselves are parameters, started at the base draws times exp(log_scale); they
/// are never redrawn. k(delta) is the mean of their cosines.
class FreeDensity : public SpectralDensity {
 public:
  explicit FreeDensity(const DensitySpec& spec);
  Var sample(Tape& tape, const Var& noise) override;
  void visit(Visitor& visitor) override;
  PointFunction kernel(std::size_t head) override;

 protected:
  void set_log_scale(const std::vector<double>& log_scale) override;

 private:
  Parameter frequencies_;  // (H, m, d)
};

}  // namespace bochner::inline BOCHNER_PRECISION
