#pragma once
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Lower bounds of gates, rising so that upper blocks remember longer: g_l = sum_(j<l) softmax_j(G)
/// over L blocks, learned per channel, shared by a stack, initially l / L. Qin et al., "HGRN",
/// 2023.
class LowerBounds : public Module {
 public:
  LowerBounds(std::size_t blocks, std::size_t width) : logits_(filled({width, blocks}, real(1))) {}
  /// Returns the bound of block l > 0; block 0 has bound 0. -> (D)
  Var bound(Tape& tape, std::size_t block) {
    require(block < logits_.shape()[1], "lower_bounds", "block ", block, " of logits (D, L) ",
            logits_.shape());
    return sum(slice(softmax(tape(logits_)), 1, 0, block), {1});
  }
  void visit(Visitor& visitor) override { visitor("logits", logits_); }

 private:
  Parameter logits_;  // (D, L)
};

}  // namespace bochner::inline BOCHNER_PRECISION
