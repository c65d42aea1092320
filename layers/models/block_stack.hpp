#pragma once
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct StackSpec {
  std::size_t blocks = 4;
  bool rotary = false;      ///< rotate queries and keys by their positions
  bool checkpoint = false;  ///< compute each block again in the backward pass instead of keeping
                            ///< what it needs
  BlockSpec block;
};

/// Residual blocks and the norm behind the last: what all models share. (B, T, D) -> (B, T, D)
class BlockStack : public Module {
 public:
  explicit BlockStack(const StackSpec& spec);
  /// `each` is added to the input of every block, if it is there; it broadcasts to (B, T, D).
  Var forward(Tape& tape, const Var& x, const Layout& layout = {}, const Var& each = {});

  using State = std::vector<std::unique_ptr<MixerState>>;
  State start() const;
  /// One more token of one sequence, `gap` after the one before; equals the whole sequence's output
  /// at its position. (1, 1, D) -> (1, 1, D)
  Var step(Tape& tape, const Var& x, State& state, double gap = 1);
  void visit(Visitor& visitor) override;

 private:
  Var run(Block& block, Tape& tape, const Var& x, const Layout& layout);
  bool checkpoint_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<Norm> norm_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
