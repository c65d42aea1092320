#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/token_head.hpp>

namespace bochner::inline BOCHNER_PRECISION {

TokenHead::TokenHead(const TokenHeadSpec& spec, std::size_t width, std::size_t vocabulary)
    : spec_(spec), bias_(zeros({spec.tied_embeddings ? vocabulary : 0})) {
  if (!spec.tied_embeddings) own_ = std::make_unique<Linear>(width, vocabulary);
}

Var TokenHead::weight(Tape& tape, Embedding& tokens) {
  if (own_) return own_->weight(tape);
  return cached(tape, this, [&] { return transpose(tokens.weight(tape), {1, 0}); });
}

Var TokenHead::bias(Tape& tape) { return own_ ? own_->bias(tape) : tape(bias_); }

Var TokenHead::bounded(const Var& logits) const {
  if (spec_.logit_cap == 0) return logits;
  return tanh(logits * (1 / spec_.logit_cap)) * spec_.logit_cap;
}

Var TokenHead::logits(Tape& tape, const Var& x, Embedding& tokens) {
  return bounded(affine(x, weight(tape, tokens), bias(tape)));
}

Var TokenHead::loss(Tape& tape, const Var& x, Embedding& tokens, const Indices& labels) {
  const double smoothing = tape.training ? spec_.label_smoothing : 0,
               factor = tape.training ? spec_.z_loss : 0;
  if (spec_.logit_cap == 0 && smoothing == 0 && factor == 0)
    return affine_cross_entropy(x, weight(tape, tokens), bias(tape), labels);
  const Var y = logits(tape, x, tokens);
  const Var loss = cross_entropy(y, labels, real(smoothing));
  return factor == 0 ? loss : loss + mean_square_of_normalizers(y, labels) * factor;
}

Var TokenHead::mean_square_of_normalizers(const Var& logits, const Indices& labels) {
  Tensor weights = zeros(labels.shape);
  double count = 0;
  for (const std::int32_t label : labels.values) count += label >= 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights.data()[i] = real(labels.values[i] >= 0 ? 1 / count : 0);
  return sum(square(logsumexp(logits, -1)) * Var(std::move(weights)));
}

void TokenHead::visit(Visitor& visitor) {
  if (own_) return own_->visit(visitor);
  visitor("bias", bias_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
