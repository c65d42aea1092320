#pragma once
/// Gaussian processes with learned spectral densities.

#include <bochner/layers/gaussian_processes/process_features.hpp>
#include <bochner/layers/gaussian_processes/process_posterior.hpp>
#include <bochner/layers/gaussian_processes/process_rows.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <bochner/layers/spectral/density.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct GaussianProcessSpec {
  std::size_t inputs = 1;           ///< d
  std::string method = "exact";     ///< "exact", "cg" or "features"
  std::string combine = "product";  ///< combination of input kernels: "product", "sum" or "both"
  std::string trend = "linear";     ///< "none", "constant" or "linear"
  double noise = 0.1;               ///< initial deviation
  double noise_shape = 1;           ///< shape of the prior of the noise (features)
  /// Density per input; heads and dim are set by the process. The prior is on the log scales.
  DensitySpec density = {.draws = "sobol", .m = 256, .start = "data"};
  IterativeSpec cg = {};
  std::vector<double> quantiles = {0.05, 0.95};  ///< quantiles in predictions
};
inline void describe(Keys& keys, GaussianProcessSpec& spec) {
  keys("method", spec.method, one_of({"exact", "cg", "features"}),
       "Cholesky factor, for some thousands of rows (exact), conjugate gradients (cg), or a linear "
       "model of random Fourier features with conjugate priors, linear in the rows (features)");
  keys.when("method", {"cg"}).section("cg", spec.cg);
  keys.when(keys.is("method", {"features"}) || keys.is("density.kind", {"free"}), [&] {
    keys("m", spec.density.m, between(1, 1 << 16),
         "frequencies of a term, each with a cosine and a sine");
    keys("draws", spec.density.draws, one_of(base_draw_names), "base draws of the frequencies");
  });
  keys("combine", spec.combine, one_of({"product", "sum", "both"}),
       "kernels of the inputs, each with its own spectral density: their product, their sum with a "
       "learned variance each, or both");
  keys("trend", spec.trend, one_of({"none", "constant", "linear"}),
       "prior mean with learned variances: none, a level, or a level and a slope for each input");
  keys("noise", spec.noise, above(0), "initial deviation of the noise, in that of the targets");
  keys.when("method", {"features"})(
      "noise_shape", spec.noise_shape, above(0),
      "shape of the inverse gamma prior of the noise; predictions are Student's t with twice this "
      "plus the rows as degrees of freedom");
  keys.section("density", spec.density);
  keys(
      "density.start", spec.density.start, one_of({"data", "search", "none", "periodogram", "em"}),
      "initial densities: at the median distance of the rows (data); with all other parameters at "
      "the likeliest of several fits to up to 512 rows (search); at log_scale (none); a mixture at "
      "the strongest waves of the targets (periodogram) or fitted by EM to their periodogram, with "
      "variance and noise (em)");
  keys("quantiles", spec.quantiles, between(0, 1), "quantiles of predictions", resumable);
}
/// Root of the config section.
struct ProcessModelSpec {
  GaussianProcessSpec gp = {};
};
inline void describe(Keys& keys, ProcessModelSpec& spec) { keys.section("gp", spec.gp); }

struct ProcessVariances;
/// Gaussian process with kernel k(x, x') = sum over terms of variance_t prod_j k_tj(x_j - x'_j),
/// plus the trend c + sum_j b_j x_j x'_j, plus noise for equal rows. A term is the product over all
/// inputs, or one input; each k_tj is a head of the density. Rasmussen, Williams, "Gaussian
/// processes for machine learning", 2006, chapters 2, 4 and 5.
class GaussianProcess : public Module {
 public:
  /// Throws std::invalid_argument if an exact process has a density without a closed form.
  explicit GaussianProcess(const GaussianProcessSpec& spec);

  /// Initializes densities from the rows, see GaussianProcessSpec, and centres their prior.
  void start(const ProcessRows& rows);
  /// Fits all parameters to up to 512 rows by L-BFGS from where they are.
  void refine(const ProcessRows& rows, int evaluations);
  /// Returns ln p(targets | inputs), the marginal likelihood. -> (). Exact: time n^3, memory 16 n^2
  /// bytes; throws std::domain_error if the covariance is singular to rounding (of floats for
  /// "cg"). F features: time n F^2, memory 8 F^2 bytes plus blocks.
  Var log_likelihood(Tape& tape, const ProcessRows& rows);
  /// Returns ln p(log scales of the densities) of the normal prior, up to a constant; 0 without
  /// one. -> ()
  Var log_prior(Tape& tape);
  /// Conditions the process on rows. Time as log_likelihood().
  std::unique_ptr<ProcessPosterior> condition(const ProcessRows& rows);

  const GaussianProcessSpec& spec() const { return spec_; }
  SpectralDensity& density() { return *density_; }
  /// Returns the inputs of each term; heads are numbered across terms.
  const std::vector<std::vector<std::size_t>>& terms() const { return terms_; }
  /// Returns the variance of each term.
  std::vector<double> variances() const;
  double noise_variance() const { return std::exp(2 * double(log_noise_.value().data()[0])); }
  /// Returns the variances of the level and of the slope per input, if any.
  std::vector<double> trend_variances() const;
  /// Returns the kernel of a head: its closed form, or the mean over its draws.
  std::unique_ptr<KernelCurve> curve(std::size_t head);
  /// Returns all parameter values that a posterior depends on.
  std::vector<double> snapshot();
  void visit(Visitor& visitor) override;
  void initialized() override { centre_prior(); }

 private:
  void start_density(const ProcessRows& rows);
  void start_by_search(const ProcessRows& rows, const std::vector<double>& log_scales);
  void centre_prior() {
    if (spec_.density.prior > 0) prior_centre_ = log_scale()->value();
  }
  Parameter* log_scale();
  void init_variances(const ProcessVariances& variances);
  std::shared_ptr<const ProcessKernel> kernel(const ProcessRows& rows);
  std::shared_ptr<const ProcessFeatures> features(const ProcessRows& rows, const Var& draws);
  std::vector<Parameter*> parameters();

  GaussianProcessSpec spec_;
  std::vector<std::vector<std::size_t>> terms_;
  std::unique_ptr<SpectralDensity> density_;
  Parameter log_variance_;  // (terms)
  Parameter log_noise_;     // (1): deviation
  Parameter log_trend_;     // (0), (1) or (1 + d): variances of level and slopes
  Tensor prior_centre_;     // of the log scales, if there is a prior
};

}  // namespace bochner::inline BOCHNER_PRECISION
