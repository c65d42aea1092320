#pragma once
/// Learnable spectral densities p(omega), each of which defines a kernel.

#include <bochner/base/registry.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/spectral/closed_forms.hpp>
#include <bochner/layers/spectral/kernel_curve.hpp>
#include <bochner/layers/spectral/parameter_posterior.hpp>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {

class SpectralDensity;
struct DensitySpec;
using Densities = Registry<SpectralDensity, DensitySpec>;
/// Registry of densities; add custom densities here.
Densities& densities();

/// Parameters of densities; a density reads those that it needs.
struct DensitySpec {
  std::string kind = "gaussian";
  std::string draws = "orthogonal";  ///< base draws, see base_draws()
  std::size_t heads = 1, m = 64, dim = 32;
  double log_scale = -1;       ///< initial log standard deviation; broad kernels learn faster
  double spread = 0;           ///< octaves between the scales of the first and the last head
  std::string start = "none";  ///< "none": at log_scale; "data", "periodogram", "em": from data
  std::uint64_t seed = 1;
  std::uint64_t redraw = 0;           ///< training steps (Tape::step) between new draws, 0: never
  std::size_t components = 4;         ///< mixture: number of Gaussians
  double temperature = 0.1;           ///< mixture: of the soft selection; 0 selects hard
  double degrees = 3;                 ///< Student's t: degrees of freedom
  double shape = 2;                   ///< gamma distribution
  std::size_t knots = 8;              ///< bins of a monotone spline
  std::size_t layers = 0;             ///< coupling layers of a flow
  std::size_t hidden = 16;            ///< hidden width of a coupling layer
  std::string proposal = "gaussian";  ///< density q of importance sampling, see Proposal
  double proposal_scale = 1.25;       ///< initial scale of q, in units of exp(log_scale)
  double prior = 0;  ///< deviation of parameters around their start; 0: none, or 1 with a posterior
  std::string posterior = "none";  ///< of the parameters: "none", "mean_field" or "full"
  OwnSpecs own = {};               ///< specs of custom densities
};
/// Bounds for Student's t. Beyond, it is Gaussian in float, and quantiles of chi^2 do not converge.
inline Bounds degrees_of_freedom() { return {{0.5, 1e9, true}}; }
/// Describes the keys except m, draws, redraw, start and proposal, which users describe.
inline void describe(Keys& keys, DensitySpec& spec) {
  keys("kind", spec.kind, one_of(densities), "spectral density p(omega): which kernel is learned",
       {.joined_by = "proposal"});
  keys("log_scale", spec.log_scale, between(-20, 20),
       "initial log standard deviation of the frequencies");
  keys("spread", spec.spread, between(0, 20),
       "initial octaves from the first head's scale to the last head's; 0 for equal scales");
  keys.when("kind", {"mixture"}, [&] {
    keys("components", spec.components, between(0, 1024),
         "Gaussians of the mixture; 0 in a gp: as many as a Dirichlet process finds in the "
         "spectrum of the targets");
    keys("temperature", spec.temperature, at_least(0),
         "temperature of the soft choice among components; 0 for a hard choice");
  });
  keys.when("kind", {"student_t"})(
      "degrees", spec.degrees, degrees_of_freedom(),
      "initial degrees of freedom, twice the order of the Matern kernel");
  keys.when("kind", {"gamma"})("shape", spec.shape, Bounds{{0, 1e8, true}},
                               "initial shape of the radius");
  keys.when("kind", {"flow", "radial"})("knots", spec.knots, between(2, 1024),
                                        "bins of the monotone splines");
  keys.when("kind", {"flow"}, [&] {
    keys("layers", spec.layers, between(0, 64),
         "coupling layers, for dependence between coordinates");
    keys("hidden", spec.hidden, between(1, 4096), "hidden width of a coupling layer");
  });
  keys("prior", spec.prior, at_least(0),
       "deviation of a normal prior of the learned parameters (in a gp: of the log scales) around "
       "their initial values; 0 for none, or 1 with a posterior");
  keys.when(unless("model.kind", {"gp"}))(
      "posterior", spec.posterior, one_of({"none", "mean_field", "full"}),
      "normal posterior of the learned parameters, independent (mean_field) or not (full): "
      "training maximizes the evidence lower bound, eval and predict average over --draws");
  densities().describe_own(keys, spec.own);
}

/// Function of a point of R^d; empty without a closed form.
using PointFunction = std::function<double(const double* point)>;

/// Frequencies of one density per head, reparameterized: parameters transform base draws, so that
/// gradients reach them. The draws are fixed and saved with the model; with a redraw schedule,
/// training uses new ones, functions of seed and step, and evaluation the saved ones.
class SpectralDensity : public Module {
 public:
  /// `auxiliary`: coordinates of noise in addition to d.
  explicit SpectralDensity(const DensitySpec& spec, std::size_t auxiliary = 0);
  /// Returns the current frequencies. -> (H, m, d)
  Var draws(Tape& tape) {
    return cached(tape, this, [this, &tape] { return new_draws(tape); });
  }
  /// Transforms standard normal noise to frequencies. (H, m, d + auxiliary) -> (H, m, d)
  virtual Var sample(Tape& tape, const Var& noise) = 0;
  /// Sets initial log scales per coordinate of every head (H d), or of all heads (d), such as
  /// median_log_scale(). A spread offsets the heads.
  void init_log_scale(const std::vector<double>& log_scale);
  /// Sets the initial log scales of every head (H d), without a spread.
  void init_head_log_scales(const std::vector<double>& log_scale) {
    set_log_scale(log_scale);
    if (posterior_) posterior_->centre();
  }
  void initialized() override {
    if (spec_.spread > 0) init_log_scale(std::vector<double>(spec_.dim, spec_.log_scale));
    if (posterior_) posterior_->centre();
  }
  /// Returns the prior and posterior of the parameters from make_density(), or null.
  ParameterPosterior* posterior() { return posterior_.get(); }
  /// Visits noise and posterior; overrides visit their parameters and call this.
  void visit(Visitor& visitor) override {
    visitor("noise", noise_);
    if (posterior_) visitor("posterior", *posterior_);
  }

  /// Returns k(delta) = E cos(omega . delta) of a head with its current parameters.
  virtual PointFunction kernel(std::size_t) { return {}; }
  /// Returns ln p(omega) of a head.
  virtual PointFunction log_density(std::size_t) { return {}; }
  /// Returns ln of the marginal density of one coordinate of a head, a function of one number; by
  /// default log_density() for d = 1.
  virtual PointFunction log_marginal(std::size_t head, std::size_t) {
    return spec_.dim == 1 ? log_density(head) : PointFunction();
  }
  /// Returns ln p of points on the tape; throws without a closed form. (H, m, d) -> (H, m)
  virtual Var log_densities(Tape& tape, const Var& points);
  /// Returns a head's Gaussian, if it is one with independent coordinates.
  virtual std::optional<GaussianAxes> gaussian(std::size_t) const { return {}; }
  /// Returns k and its slopes by the head's parameters for dim = 1; null without a closed form.
  virtual std::unique_ptr<KernelCurve> curve(std::size_t) const { return nullptr; }
  /// Returns -E ln p(omega) of a head, in nats.
  virtual std::optional<double> entropy(std::size_t) { return {}; }
  /// Fits all heads by EM to draws of a spectrum, dim = 1; throws unless overridden.
  virtual void fit(const std::vector<double>& frequencies);

 protected:
  const Tensor& noise() const { return noise_; }
  /// Sets log scales for init_head_log_scales(), (H d); throws unless overridden.
  virtual void set_log_scale(const std::vector<double>& log_scale);

 private:
  friend std::unique_ptr<SpectralDensity> make_density(const DensitySpec& spec);
  Var new_draws(Tape& tape);
  Var current_noise(Tape& tape);
  Tensor new_noise(std::uint64_t round) const;

  DensitySpec spec_;
  std::size_t auxiliary_;
  Tensor noise_;
  std::uint64_t round_ = 0;                // round of redrawn_
  std::shared_ptr<const Tensor> redrawn_;  // noise of the last redraw
  std::unique_ptr<ParameterPosterior> posterior_;
};

std::unique_ptr<SpectralDensity> make_density(const DensitySpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
