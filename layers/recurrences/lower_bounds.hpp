#pragma once
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Lower bounds of gates that rise from block to block, so that upper blocks keep what they have
/// seen for longer: g_l = sum_(j<l) softmax_j(G), of L blocks, learned for each channel and shared
/// by the blocks of a stack; l / L at the start. Qin et al., "HGRN", 2023.
class LowerBounds : public Module {
 public:
  LowerBounds(std::size_t blocks, std::size_t width);
  /// Of block l > 0; that of the first is 0. -> (D)
  Var of(Tape& tape, std::size_t block);
  void visit(Visitor& visitor) override;

 private:
  Parameter logits_;  // (D, L)
};

}  // namespace bochner::inline BOCHNER_PRECISION
