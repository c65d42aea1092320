#pragma once
/// How well a feature map estimates its kernel: bias, variance and error by Monte Carlo over seeds,
/// closed forms beside them where a map has them.

#include <bochner/train/laboratory/kernel_sample.hpp>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {

/// A map for one head of the sample's size, its parameters and draws from `seed`.
std::unique_ptr<FeatureMap> study_map(FeatureSpec spec, std::size_t d, std::size_t m,
                                      std::uint64_t seed);

/// Lets the map set its statistics from the first block.
void calibrate(FeatureMap& map, const SampleBlock& block);

/// phi(q) . phi(k) of each pair.
std::vector<double> estimates(FeatureMap& map, const KernelSample& sample,
                              const std::vector<SamplePair>& pairs);

/// What is found with m frequencies, relative to the kernel; medians over pairs.
struct ErrorAtM {
  std::size_t m = 0, features = 0;
  double bias = 0;         ///< weighted mean of the relative deviation over pairs and seeds
  double bias_sigmas = 0;  ///< in standard errors over the seeds
  double variance = 0;
  double error = 0;      ///< root mean square over the seeds
  double error_low = 0;  ///< quartiles over the pairs
  double error_high = 0;
  double attention = 0;  ///< mean distance of attention rows from softmax, 0 to 1
  std::optional<double> exact_variance = {},
                        exact_error = {};  ///< closed forms for independent draws
};

/// An error so large that the mean of a few seeds says nothing: rare large values make it.
inline bool is_skewed(const ErrorAtM& row) { return row.exact_error.value_or(row.error) > 1; }

struct EstimatorStudy {
  bool has_closed_kernel = false;  ///< else the mean over all seeds and m is the reference
  bool is_softmax = false;         ///< the closed kernel is exp(q . k / sqrt d)
  std::vector<ErrorAtM> rows;
  /// The m that has this median error, from the last row by the rate m^(-1/2) of independent draws.
  double needed(double error) const;
};

struct StudyOptions {
  std::vector<std::size_t> m = {16, 64, 256, 1024};
  std::size_t seeds = 16, pairs = 256;
};

/// The closed forms hold for frequencies from N(0, I): `standard` says that the spec has those.
EstimatorStudy study_estimator(const FeatureSpec& spec, bool standard, const KernelSample& sample,
                               const StudyOptions& options);

/// The spec with frequencies from N(0, I).
FeatureSpec with_standard_frequencies(FeatureSpec spec);

double median(std::vector<double> numbers);
/// The number below which a part of them lies, 0 <= part <= 1.
double quantile(std::vector<double> numbers, double part);

}  // namespace bochner::inline BOCHNER_PRECISION
