#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/layers/basic/pooling.hpp>
#include <bochner/layers/models/sequence_classifier.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

TrunkSpec in_both_directions(TrunkSpec spec) {
  spec.block.mixer.causal = false;
  return spec;
}

}  // namespace

SequenceClassifier::SequenceClassifier(const SequenceClassifierSpec& spec)
    : pooling_(spec.pooling),
      trunk_(in_both_directions(spec.trunk)),
      head_(spec.trunk.block.width, spec.classes) {}

Var SequenceClassifier::logits(Tape& tape, const Indices& tokens,
                               const std::vector<std::size_t>& lengths) {
  require(tokens.shape.size() == 2, "sequence_classifier", "tokens must be (B, T), not ",
          tokens.shape);
  return head_.forward(tape,
                       pool(pooling_, trunk_.forward(tape, tokens, {.lengths = lengths}), lengths));
}

Var SequenceClassifier::loss(Tape& tape, const Indices& tokens, const Indices& labels,
                             const std::vector<std::size_t>& lengths) {
  return cross_entropy(logits(tape, tokens, lengths), labels);
}

void SequenceClassifier::visit(Visitor& visitor) {
  trunk_.visit(visitor);
  visitor("head", head_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
