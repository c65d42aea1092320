#include <algorithm>
#include <bochner/autodiff/tensor.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Tensor uninitialized(const Shape& shape) { return Tensor::from_shape(shape); }

Tensor filled(const Shape& shape, real value) {
  Tensor tensor = uninitialized(shape);
  std::fill_n(tensor.data(), tensor.size(), value);
  return tensor;
}

}  // namespace bochner::inline BOCHNER_PRECISION
