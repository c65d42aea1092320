#pragma once
/// Learnable spectral densities p(omega): which kernel. Learning one is learning the kernel.

#include <bochner/layers/module.hpp>
#include <bochner/layers/registry.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct DensitySpec {
  std::string kind = "gaussian";
  std::string draws = "orthogonal";  ///< base draws, see base_draws()
  std::size_t heads = 1, m = 64, dim = 32;
  double log_scale =
      -1;  ///< start of the log standard deviation: broad kernels learn faster than narrow ones
  std::uint64_t seed = 1;
};

/// Frequencies of one density per head, reparameterised: base draws, fixed and saved with the
/// model, are bent by the parameters, so gradients reach them and evaluation is deterministic.
class SpectralDensity : public Module {
 public:
  explicit SpectralDensity(const DensitySpec& spec);
  /// The frequencies in use. -> (H, m, d)
  Var draws(Tape& tape) { return sample(tape, tape.view(noise_)); }
  /// Standard normal noise to frequencies. (H, m, d) -> (H, m, d)
  virtual Var sample(Tape& tape, const Var& noise) = 0;
  /// Visits the noise; overriders visit their parameters and call this.
  void visit(Visitor& visitor) override;

 private:
  Tensor noise_;
};

/// omega = mean + exp(log_scale) * noise, diagonal, per head: k(delta) = cos(mean . delta)
/// exp(-|scale delta|^2 / 2).
class GaussianDensity : public SpectralDensity {
 public:
  explicit GaussianDensity(const DensitySpec& spec);
  Var sample(Tape& tape, const Var& noise) override;
  void visit(Visitor& visitor) override;

 private:
  Parameter mean_, log_scale_;  // (H, 1, d)
};

/// The densities that configs may name.
Registry<SpectralDensity, DensitySpec>& densities();
std::unique_ptr<SpectralDensity> make_density(const DensitySpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
