#pragma once
/// Accuracy of a feature map's kernel estimate: bias, variance and error by Monte Carlo over seeds,
/// next to closed forms if the map has them.

#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/studies/study.hpp>

namespace bochner {

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

}  // namespace bochner
