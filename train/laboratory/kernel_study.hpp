#pragma once
/// The whole study of one kernel.

#include <bochner/train/laboratory/estimator_study.hpp>

namespace bochner::inline BOCHNER_PRECISION {

KernelStudy study_kernel(const FeatureSpec& spec, const KernelSample& sample,
                         const StudyOptions& options);

/// Is a kernel positive definite? The eigenvalues of a Gram matrix (n, n) say so.
Definiteness definiteness_of(const Tensor& gram);

}  // namespace bochner::inline BOCHNER_PRECISION
