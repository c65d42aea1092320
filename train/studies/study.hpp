#pragma once
/// Results of a kernel study, as figures, text, JSON and page.

#include <bochner/train/charts/chart.hpp>
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
                        exact_error = {};  ///< closed forms for independent draws
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
  double needed(double error) const;
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
  std::vector<MapComparison> maps = {};           ///< at 256 or the largest m below, best first
  std::vector<AngleCurve> angles = {};
  Definiteness definiteness = {};
  Curve spectrum = {}, kernel = {}, kernel_of_draws = {};
};

/// Returns conclusions from the figures, one sentence each. `wanted` is a relative error.
std::vector<std::string> advice(const KernelStudy& study, double wanted);

/// Returns tables and advice for the terminal.
std::string study_text(const KernelStudy& study, double wanted);
std::string study_json(const KernelStudy& study, double wanted);
/// Adds the study with charts; each study is a part of the page.
void add_study(Page& page, const KernelStudy& study, double wanted);

}  // namespace bochner
