#pragma once
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// x plus a causal depthwise convolution of its last K >= 1 tokens: starts near the identity. (B,
/// T, D)
/// -> (B, T, D). Fu et al., "H3", 2023; Poli et al., "Hyena", 2023.
class ShortConvolution : public Module {
 public:
  ShortConvolution(std::size_t taps, std::size_t width);
  Var forward(Tape& tape, const Var& x);
  /// One token after the `recent` K tokens (1, K, D), which move on by one; equals the batch
  /// output. (1, 1, D) -> (1, 1, D)
  Var step(Tape& tape, const Var& x, Tensor& recent);
  /// The `recent` tokens before the first.
  Tensor start() const { return zeros({1, weight_.shape()[0], weight_.shape()[1]}); }
  void visit(Visitor& visitor) override;

 private:
  Parameter weight_, bias_;  // (K, D), (D)
};

}  // namespace bochner::inline BOCHNER_PRECISION
