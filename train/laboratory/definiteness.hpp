#pragma once
/// Is a kernel positive definite? The eigenvalues of a Gram matrix say so.

#include <bochner/autodiff/tensor.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct Definiteness {
  double smallest = 0;   ///< eigenvalue of the symmetric part relative to the largest in size
  double asymmetry = 0;  ///< |A - A^T| / |A + A^T|: 0 for a symmetric kernel
};
Definiteness definiteness_of(const Tensor& gram);

}  // namespace bochner::inline BOCHNER_PRECISION
