#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/recurrences/lower_bounds.hpp>

namespace bochner::inline BOCHNER_PRECISION {

LowerBounds::LowerBounds(std::size_t blocks, std::size_t width)
    : logits_(filled({width, blocks}, real(1))) {}

Var LowerBounds::bound(Tape& tape, std::size_t block) {
  require(block < logits_.shape()[1], "lower_bounds", "block ", block, " of logits (D, L) ",
          logits_.shape());
  return sum(slice(softmax(tape(logits_)), 1, 0, block), {1});
}

void LowerBounds::visit(Visitor& visitor) { visitor("logits", logits_); }

}  // namespace bochner::inline BOCHNER_PRECISION
