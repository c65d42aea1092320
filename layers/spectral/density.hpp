#pragma once
/// Learnable spectral densities p(omega): which kernel. Learning one is learning the kernel.

#include <bochner/layers/module.hpp>
#include <bochner/layers/registry.hpp>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {

/// Which density, and where it starts; densities.hpp says who reads what.
struct DensitySpec {
  std::string kind = "gaussian";
  std::string draws = "orthogonal";  ///< base draws, see base_draws()
  std::size_t heads = 1, m = 64, dim = 32;
  double log_scale = -1;  ///< start of the log standard deviation; broad kernels learn faster
  std::uint64_t seed = 1;
  std::uint64_t redraw = 0;    ///< training passes (Tape::step) between new draws, 0 for never
  std::size_t components = 4;  ///< of a mixture
  double temperature = 0.1;    ///< of a mixture's soft selection; 0 selects hard
  double degrees = 3;          ///< of freedom of Student's t
  double shape = 2;            ///< of a gamma distribution
  std::size_t knots = 8;       ///< bins of a monotone spline
  std::size_t layers = 0;      ///< coupling layers of a flow
  std::size_t hidden = 16;     ///< hidden width of a coupling layer
  Options own = {};            ///< of densities added to the registry
};

/// A function of one point of R^d; empty where there is no closed form.
using PointFunction = std::function<double(const double* point)>;

/// Frequencies of one density per head, reparameterised: base draws are bent by the parameters, so
/// gradients reach them. The draws are fixed and saved with the model; with a redraw schedule,
/// training sees new ones, functions of seed and step, and evaluation still the saved ones.
class SpectralDensity : public Module {
 public:
  /// `auxiliary`: coordinates of noise beyond the d that a point of the density takes.
  explicit SpectralDensity(const DensitySpec& spec, std::size_t auxiliary = 0);
  /// The frequencies in use. -> (H, m, d)
  Var draws(Tape& tape) { return sample(tape, noise_of(tape)); }
  /// Standard normal noise to frequencies. (H, m, d + auxiliary) -> (H, m, d)
  virtual Var sample(Tape& tape, const Var& noise) = 0;
  /// Starts with these log scales, one for each coordinate, in every head: median_log_scale() of
  /// data.
  void start_at(const std::vector<double>& log_scale);
  /// Visits the noise; overriders visit their parameters and call this.
  void visit(Visitor& visitor) override;

  /// k(delta) = E cos(omega . delta) of a head with its present parameters.
  virtual PointFunction kernel(std::size_t) { return {}; }
  /// ln p(omega) of a head.
  virtual PointFunction log_density(std::size_t) { return {}; }
  /// -E ln p(omega) of a head, in nats.
  virtual std::optional<double> entropy(std::size_t) { return {}; }

 protected:
  /// The saved base draws.
  const Tensor& noise() const { return noise_; }
  /// What start_at() does; throws unless overridden.
  virtual void set_log_scale(const std::vector<double>& log_scale);

 private:
  Var noise_of(Tape& tape);
  Tensor new_noise(std::uint64_t round) const;

  DensitySpec spec_;
  std::size_t auxiliary_;
  Tensor noise_;
  std::uint64_t round_ = 0;                // of redrawn_
  std::shared_ptr<const Tensor> redrawn_;  // kept for the other calls of this round
};

/// The densities that configs may name.
Registry<SpectralDensity, DensitySpec>& densities();
std::unique_ptr<SpectralDensity> make_density(const DensitySpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
