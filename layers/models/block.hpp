#pragma once
#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/basic/dropout.hpp>
#include <bochner/layers/basic/mlp.hpp>
#include <bochner/layers/basic/norm.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct BlockSpec {
  std::size_t width = 128;
  std::size_t expansion = 4;
  double dropout = 0;
  std::string norm = "layer";
  MixerSpec mixer;
};
inline void describe(Keys& keys, BlockSpec& spec) {
  keys("width", spec.width, between(1, 1 << 16), "channels of the residual stream (D)");
  keys("expansion", spec.expansion, between(1, 64),
       "hidden width of the MLP in units of model.width");
  keys("dropout", spec.dropout, below(0, 1),
       "probability that an activation is dropped in training");
  keys("norm", spec.norm, one_of({"layer", "rms"}),
       "normalisation at the start of a block: layer norm or RMS norm");
  keys.section("mixer", spec.mixer);
}

/// x + mixer(norm(x)), then x + mlp(norm(x)): the pre-norm residual block. (B, T, D) -> (B, T, D)
class Block : public Module {
 public:
  explicit Block(const BlockSpec& spec);
  Var forward(Tape& tape, const Var& x, const Layout& layout = {});
  /// The two halves of forward(): x + mixer(norm(x)) and x + mlp(norm(x)).
  Var mix(Tape& tape, const Var& x, const Layout& layout);
  Var feed(Tape& tape, const Var& x);
  std::unique_ptr<MixerState> start() const { return mixer_->start(); }
  /// (1, 1, D) -> (1, 1, D)
  Var step(Tape& tape, const Var& x, MixerState& state);
  void visit(Visitor& visitor) override;

 private:
  std::unique_ptr<Norm> mixer_norm_, mlp_norm_;
  std::unique_ptr<Mixer> mixer_;
  MLP mlp_;
  Dropout dropout_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
