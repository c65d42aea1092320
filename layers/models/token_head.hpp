#pragma once
/// The head of a language model: logits of tokens, and their loss.

#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/models/label_loss.hpp>
#include <bochner/layers/models/loss.hpp>
#include <memory>

namespace bochner::inline BOCHNER_PRECISION {

struct TokenHeadSpec {
  bool tied_embeddings = false;
  double logit_cap = 0, z_loss = 0, label_smoothing = 0;
};
inline void describe(Keys& keys, TokenHeadSpec& spec) {
  keys("tied_embeddings", spec.tied_embeddings,
       "logits are products with the embeddings of the tokens; the head has only a bias");
  keys.when(loss_is(keys, {"cross_entropy", "mse"}), [&] {
    keys("logit_cap", spec.logit_cap, at_least(0),
         "bound c of logits, c tanh(logit / c); 0 for none");
    keys("z_loss", spec.z_loss, at_least(0),
         "factor of the mean square of ln sum exp of the logits, which training adds to the loss");
    describe_smoothing(keys, spec.label_smoothing);
  });
}

/// Linear map to logits, with weights of its own or the embeddings of the tokens.
class TokenHead : public Module {
 public:
  TokenHead(const TokenHeadSpec& spec, std::size_t width, std::size_t vocabulary);
  /// Returns bounded logits. x (.., D) -> (.., V)
  Var logits(Tape& tape, const Var& x, Embedding& tokens);
  /// Returns the mean cross-entropy, in training with smoothing and z_loss (Chowdhery et al.,
  /// "PaLM", 2022). x (.., D), labels (..), -1 for none -> ()
  Var loss(Tape& tape, const Var& x, Embedding& tokens, const Indices& labels);
  /// Returns the weights (D, V) and the bias (V) of unbounded logits.
  Var weight(Tape& tape, Embedding& tokens);
  Var bias(Tape& tape);
  void visit(Visitor& visitor) override;

 private:
  Var bounded(const Var& logits) const;
  /// Returns the mean of (ln sum exp)^2 over rows with a label. logits (.., V), labels (..) -> ()
  static Var mean_square_of_normalizers(const Var& logits, const Indices& labels);

  TokenHeadSpec spec_;
  std::unique_ptr<Linear> own_;  ///< null if tied
  Parameter bias_;               // (V) if tied
};

}  // namespace bochner::inline BOCHNER_PRECISION
