#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/recurrences/lower_bounds.hpp>

namespace bochner::inline BOCHNER_PRECISION {

LowerBounds::LowerBounds(std::size_t blocks, std::size_t width)
    : logits_(filled({width, blocks}, real(1))) {}

}  // namespace bochner::inline BOCHNER_PRECISION
