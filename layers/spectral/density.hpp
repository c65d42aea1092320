#pragma once
/// Learnable spectral densities p(omega): which kernel. Learning one is learning the kernel.

#include <bochner/layers/module.hpp>
#include <bochner/layers/registry.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <bochner/layers/spectral/kernel_curve.hpp>
#include <bochner/layers/spectral/parameter_posterior.hpp>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {

class SpectralDensity;
struct DensitySpec;
using Densities = Registry<SpectralDensity, DensitySpec>;
/// The densities that configs may name; a user's own are added here.
Densities& densities();

/// Which density, and where it starts; a density reads what it needs.
struct DensitySpec {
  std::string kind = "gaussian";
  std::string draws = "orthogonal";  ///< base draws, see base_draws()
  std::size_t heads = 1, m = 64, dim = 32;
  double log_scale = -1;       ///< start of the log standard deviation; broad kernels learn faster
  double spread = 0;           ///< octaves between the scales of the first and the last head
  std::string start = "none";  ///< "none": at log_scale; "data", "periodogram", "em": at data
  std::uint64_t seed = 1;
  std::uint64_t redraw = 0;    ///< training passes (Tape::step) between new draws, 0 for never
  std::size_t components = 4;  ///< of a mixture
  double temperature = 0.1;    ///< of a mixture's soft selection; 0 selects hard
  double degrees = 3;          ///< of freedom of Student's t
  double shape = 2;            ///< of a gamma distribution
  std::size_t knots = 8;       ///< bins of a monotone spline
  std::size_t layers = 0;      ///< coupling layers of a flow
  std::size_t hidden = 16;     ///< hidden width of a coupling layer
  std::string proposal = "gaussian";  ///< density q of importance sampling, see Proposal
  double proposal_scale = 1.25;       ///< of q at the start, in units of exp(log_scale)
  double prior = 0;  ///< deviation of the parameters around their start; 0 for none, or 1 with a
                     ///< posterior
  std::string posterior = "none";  ///< of the parameters: "none", "mean_field" or "full"
  OwnSpecs own = {};               ///< of densities added to the registry
};
/// Of Student's t. Beyond, where it is a Gaussian to the last digit of floats, no quantile of chi^2
/// converges.
inline Bounds degrees_of_freedom() { return {{0.5, 1e9, true}}; }
/// What stands beside it in configs is told by those who use it: m, draws, redraw, start and
/// proposal.
inline void describe(Keys& keys, DensitySpec& spec) {
  keys("kind", spec.kind, one_of(densities), "spectral density p(omega): which kernel is learned");
  keys("log_scale", spec.log_scale, between(-20, 20),
       "start of the learned log standard deviation of the frequencies");
  keys("spread", spec.spread, between(0, 20),
       "octaves from the scale of the first head to that of the last at the start, evenly spaced "
       "around the one of log_scale or of the data; 0 for the same in all");
  keys("components", spec.components, between(0, 1024),
       "Gaussians of a mixture; 0 for as many as a Dirichlet process finds in the spectrum of the "
       "targets (gp)");
  keys("temperature", spec.temperature, at_least(0),
       "of the soft choice among the components of a mixture; 0 chooses hard");
  keys("degrees", spec.degrees, degrees_of_freedom(),
       "start of the degrees of freedom of student_t, twice the order of its Matern kernel");
  keys("shape", spec.shape, Bounds{{0, 1e8, true}}, "start of the shape of a gamma radius");
  keys("knots", spec.knots, between(2, 1024), "bins of the monotone splines of flow and radial");
  keys("layers", spec.layers, between(0, 64),
       "coupling layers of a flow, for dependence between coordinates");
  keys("hidden", spec.hidden, between(1, 4096), "hidden width of a coupling layer");
  keys(
      "prior", spec.prior, at_least(0),
      "deviation of a normal prior of what is learned of the density, around where it starts (gp: "
      "of the log scales only): what is learned is the maximum a posteriori; 0 for none, or 1 with "
      "a posterior");
  keys("posterior", spec.posterior, one_of({"none", "mean_field", "full"}),
       "a normal posterior of what is learned of the density, with numbers that are independent "
       "(mean_field) or not (full): training maximises the evidence lower bound, and eval and "
       "predict average over --draws of it");
  densities().describe_own(keys, spec.own);
}

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
  Var draws(Tape& tape) {
    return kept(tape, this, [&] { return new_draws(tape); });
  }
  /// Standard normal noise to frequencies. (H, m, d + auxiliary) -> (H, m, d)
  virtual Var sample(Tape& tape, const Var& noise) = 0;
  /// Starts with these log scales, one for each coordinate of every head (H d), or of all heads
  /// (d): median_log_scale() of data; with a spread, heads stand apart around them.
  void init_log_scale(const std::vector<double>& log_scale);
  /// Starts every head exactly there (H d): no spread is added.
  void init_head_log_scales(const std::vector<double>& log_scale);
  /// Heads stand apart from the start, with a spread.
  void initialized() override;
  /// Prior and posterior of the parameters, which make_density() adds; null without.
  ParameterPosterior* posterior() { return posterior_.get(); }
  /// Visits the noise and the posterior; overriders visit their parameters and call this.
  void visit(Visitor& visitor) override;

  /// k(delta) = E cos(omega . delta) of a head with its present parameters.
  virtual PointFunction kernel(std::size_t) { return {}; }
  /// ln p(omega) of a head.
  virtual PointFunction log_density(std::size_t) { return {}; }
  /// The same of points of each head, on the tape; throws where there is none. (H, m, d) -> (H, m)
  virtual Var log_densities(Tape& tape, const Var& points);
  /// A head's Gaussian, where it is one with independent coordinates.
  virtual std::optional<GaussianAxes> gaussian(std::size_t) const { return {}; }
  /// k and its slopes by the head's parameters, for densities of one dimension (dim = 1): what
  /// Gaussian processes learn. Null where there is no closed form.
  virtual std::unique_ptr<KernelCurve> curve(std::size_t) const { return nullptr; }
  /// -E ln p(omega) of a head, in nats.
  virtual std::optional<double> entropy(std::size_t) { return {}; }
  /// Starts all heads where EM fits them to draws of a spectrum of one dimension, of either sign;
  /// throws unless overridden, as mixtures do.
  virtual void fit(const std::vector<double>& frequencies);

 protected:
  /// The saved base draws.
  const Tensor& noise() const { return noise_; }
  /// What init_head_log_scales() does, (H d); throws unless overridden.
  virtual void set_log_scale(const std::vector<double>& log_scale);

 private:
  friend std::unique_ptr<SpectralDensity> make_density(const DensitySpec& spec);
  Var new_draws(Tape& tape);
  Var noise_of(Tape& tape);
  Tensor new_noise(std::uint64_t round) const;

  DensitySpec spec_;
  std::size_t auxiliary_;
  Tensor noise_;
  std::uint64_t round_ = 0;                // of redrawn_
  std::shared_ptr<const Tensor> redrawn_;  // kept for the other calls of this round
  std::unique_ptr<ParameterPosterior> posterior_;
};

std::unique_ptr<SpectralDensity> make_density(const DensitySpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
