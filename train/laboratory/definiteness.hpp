#pragma once
/// Is a kernel positive definite? The eigenvalues of a Gram matrix say so.

#include <bochner/autodiff/tensor.hpp>
#include <bochner/train/laboratory/study.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Definiteness definiteness_of(const Tensor& gram);

}  // namespace bochner::inline BOCHNER_PRECISION
