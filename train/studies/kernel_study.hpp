#pragma once
/// Accuracy of a feature map's kernel estimate: bias, variance and error by Monte Carlo over seeds,
/// next to closed forms if the map has them; as figures, text, JSON and page.

#include <bochner/train/run/instruments/density_curves.hpp>
#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace bochner {

class Page;

/// Results with m frequencies, relative to the kernel; medians over pairs.
struct ErrorAtM {
  std::size_t m = 0, features = 0;
  /// Weighted mean of the relative deviation over pairs and seeds: from the closed kernel, or from
  /// the mean over the other m, if there are any.
  std::optional<double> bias = {};
  std::optional<double> bias_sigmas = {};  ///< in standard errors over the seeds
  double variance = 0;
  double error = 0;      ///< root mean square over the seeds
  double error_low = 0;  ///< quartiles over the pairs
  double error_high = 0;
  double attention = 0;  ///< mean distance of attention rows from softmax, 0 to 1
  std::optional<double> exact_variance = {},
                        exact_error = {};  ///< for independent draws, mean over parameters
  /// Returns the error in closed form if there is one, else the measured one.
  double expected_error() const { return exact_error.value_or(error); }
  /// Whether rare large values dominate, so that the mean of a few seeds is unreliable.
  bool is_skewed() const { return expected_error() > 1; }
  std::optional<double> shown_sigmas() const {
    return is_skewed() ? std::optional<double>() : bias_sigmas;
  }
};

struct EstimatorStudy {
  bool has_closed_kernel = false;  ///< else the reference is the mean over all seeds and m
  bool is_softmax = false;         ///< the closed kernel is exp(q . k / sqrt d)
  std::vector<ErrorAtM> rows;
  /// Returns the m with this median error, extrapolated from the last row by the rate m^(-1/2).
  double needed(double error) const {
    return std::ceil(double(rows.back().m) * std::pow(rows.back().expected_error() / error, 2));
  }
};

/// Result of one map, compared at equal m.
struct MapComparison {
  std::string features;
  ErrorAtM result;
};

/// Relative error over the angle between a query and a key of equal norm.
struct AngleCurve {
  double norm = 0;  ///< of y = x / d^(1/4)
  Curve measured, exact;
};

struct Definiteness {
  double smallest = 0;   ///< eigenvalue of the symmetric part relative to the largest in size
  double asymmetry = 0;  ///< |A - A^T| / |A + A^T|: 0 for a symmetric kernel
};

/// Study of one kernel, as shown by `bochner kernel`.
struct KernelStudy {
  std::string features, density, draws;  ///< kinds of the config
  double log_scale = 0;                  ///< of the density
  std::string sample;
  std::size_t dim = 0, seeds = 0;
  double log_kernel_spread = 0;  ///< standard deviation of q . k / sqrt(d) over pairs
  double sum_norm = 0;  ///< median |x + y|^2, which determines the error of positive features
  double largest_exponent = 0;  ///< |x|^2 / (2 sqrt(d)), and as clipped by trigonometric features
  double exponent_bound = 0;
  EstimatorStudy standard = {};  ///< frequencies from N(0, I): estimates softmax's kernel
  std::optional<EstimatorStudy> configured = {};  ///< the density of the config, if it differs
  std::string infinite = {};             ///< why that was not measured, see infinite_kernel()
  std::vector<MapComparison> maps = {};  ///< at 256 or the largest m below, best first
  std::vector<AngleCurve> angles = {};
  std::optional<Definiteness> definiteness = {};  ///< of a finite kernel
  Spectrum spectrum = {};
  Curve kernel = {}, kernel_of_draws = {};
};

/// Formats "0.123", or "-" for nothing.
std::string number_or_dash(const std::optional<double>& number);
/// Returns conclusions from the figures, one sentence each. `wanted` is a relative error.
std::vector<std::string> advice(const KernelStudy& study, double wanted);

/// Returns tables and advice for the terminal.
std::string study_text(const KernelStudy& study, double wanted);
std::string study_json(const KernelStudy& study, double wanted);
/// Adds the study with charts; each study is a part of the page.
void add_study(Page& page, const KernelStudy& study, double wanted);

/// Makes a map for one head of size d with parameters and draws from `seed`.
std::unique_ptr<FeatureMap> study_map(FeatureSpec spec, std::size_t d, std::size_t m,
                                      std::uint64_t seed);
/// Makes a small map, or returns null if it cannot be made in `d` dimensions.
std::unique_ptr<FeatureMap> small_map(const FeatureSpec& spec, std::size_t d);
/// Makes a map calibrated on the block.
std::unique_ptr<FeatureMap> calibrated_map(const FeatureSpec& spec, const SampleBlock& block,
                                           std::size_t m, std::uint64_t seed);

struct StudyOptions {
  std::vector<std::size_t> m = {16, 64, 256, 1024};
  std::size_t seeds = 16, pairs = 256;
};

/// Studies an estimator, in closed form too if `standard`, that is with frequencies N(0, I).
EstimatorStudy study_estimator(const FeatureSpec& spec, bool standard, const KernelSample& sample,
                               const StudyOptions& options);

/// Returns the spec with frequencies from N(0, I).
FeatureSpec with_standard_frequencies(FeatureSpec spec);

KernelStudy study_kernel(const FeatureSpec& spec, const KernelSample& sample,
                         const StudyOptions& options);

/// Measures how far a kernel is from positive definite by the eigenvalues of a Gram matrix (n, n).
Definiteness definiteness_of(const Tensor& gram);

/// Estimates at one m. (seed, pair)
using Estimates = std::vector<std::vector<double>>;

/// Returns the mean over pairs of each seed's relative deviation. Pairs are weighted by the inverse
/// of their theoretical variance: with the measured variance a skewed estimate would look biased.
std::vector<double> deviations_of(const Estimates& values, const std::vector<double>& kernel,
                                  const std::vector<double>& known);
/// Returns the deviations of each m less those of the others, seed by seed: a mean that includes an
/// estimate's own draws would hide its bias. Empty for a single m. (m, seed) -> (m, seed)
std::vector<std::vector<double>> less_others(const std::vector<std::vector<double>>& deviations,
                                             const std::vector<std::size_t>& m);
/// Sets the bias to the mean deviation, if any, and in standard errors if there are two or more.
void summarize_bias(ErrorAtM& row, const std::vector<double>& deviations);

}  // namespace bochner
