#pragma once
/// The whole study of one kernel: what `bochner kernel` shows.

#include <bochner/train/laboratory/definiteness.hpp>
#include <bochner/train/laboratory/estimator_study.hpp>
#include <bochner/train/laboratory/spectrum.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// One map among others at equal m.
struct MapComparison {
  std::string features;
  ErrorAtM result;
};

/// Relative error over the angle between a query and a key of equal norm.
struct AngleCurve {
  double norm = 0;  ///< of y = x / d^(1/4)
  Curve measured, exact;
};

struct KernelStudy {
  FeatureSpec spec;
  std::string sample;
  std::size_t dim = 0, seeds = 0;
  double log_kernel_spread = 0;  ///< standard deviation of q . k / sqrt(d) over pairs
  double sum_norm = 0;           ///< median |x + y|^2, which decides the error of positive features
  EstimatorStudy standard = {};  ///< frequencies from N(0, I): estimates softmax's kernel
  std::optional<EstimatorStudy> configured =
      {};                                ///< the density of the config, if that is another one
  std::vector<MapComparison> maps = {};  ///< at 256 or the largest m below, best first
  std::vector<AngleCurve> angles = {};
  Definiteness definiteness = {};
  Tensor frequencies = {};  ///< of the configured density (1, m, d)
  Curve spectrum = {}, kernel = {}, kernel_of_draws = {};
};

KernelStudy study_kernel(const FeatureSpec& spec, const KernelSample& sample,
                         const StudyOptions& options);

/// What follows from the figures, one sentence each. `wanted` is a relative error.
std::vector<std::string> advice(const KernelStudy& study, double wanted);

/// "3.2e+09", or "256" below a million.
std::string count_of_features(double m);

}  // namespace bochner::inline BOCHNER_PRECISION
