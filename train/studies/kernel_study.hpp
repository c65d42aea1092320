#pragma once
/// How well a feature map estimates its kernel: bias, variance and error by Monte Carlo over seeds,
/// closed forms beside them where a map has them.

#include <bochner/train/run/instruments/kernel_sample.hpp>
#include <bochner/train/studies/study.hpp>

namespace bochner {

/// A map for one head of size d, its parameters and draws from `seed`.
std::unique_ptr<FeatureMap> study_map(FeatureSpec spec, std::size_t d, std::size_t m,
                                      std::uint64_t seed);
/// A small one, or null where the map cannot be made in `d` dimensions.
std::unique_ptr<FeatureMap> small_map(const FeatureSpec& spec, std::size_t d);
/// The same with the statistics that it sets from the block.
std::unique_ptr<FeatureMap> calibrated_map(const FeatureSpec& spec, const SampleBlock& block,
                                           std::size_t m, std::uint64_t seed);

struct StudyOptions {
  std::vector<std::size_t> m = {16, 64, 256, 1024};
  std::size_t seeds = 16, pairs = 256;
};

/// The closed forms hold for frequencies from N(0, I): `standard` says that the spec has those.
EstimatorStudy study_estimator(const FeatureSpec& spec, bool standard, const KernelSample& sample,
                               const StudyOptions& options);

/// The spec with frequencies from N(0, I).
FeatureSpec with_standard_frequencies(FeatureSpec spec);

/// The whole study of one kernel.
KernelStudy study_kernel(const FeatureSpec& spec, const KernelSample& sample,
                         const StudyOptions& options);

/// Is a kernel positive definite? The eigenvalues of a Gram matrix (n, n) say so.
Definiteness definiteness_of(const Tensor& gram);

}  // namespace bochner
