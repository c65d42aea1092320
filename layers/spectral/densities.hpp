#pragma once
/// The built-in densities. z is the standard normal noise; k(delta) = E cos(omega . delta).

#include <bochner/layers/spectral/density.hpp>
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

 private:
  struct Snapshot;
  Snapshot snapshot(std::size_t head) const;

  Parameter mean_;    // (H, 1, d)
  Parameter factor_;  // (H, d, d): L, the logarithm of its diagonal; the upper triangle is unused
};

}  // namespace bochner::inline BOCHNER_PRECISION
