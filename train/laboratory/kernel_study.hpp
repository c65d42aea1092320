#pragma once
/// The whole study of one kernel.

#include <bochner/train/laboratory/estimator_study.hpp>

namespace bochner::inline BOCHNER_PRECISION {

KernelStudy study_kernel(const FeatureSpec& spec, const KernelSample& sample,
                         const StudyOptions& options);

}  // namespace bochner::inline BOCHNER_PRECISION
