#pragma once
#include <bochner/layers/models/trunk.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct SequenceClassifierSpec {
  TrunkSpec trunk;
  std::size_t classes = 2;
  std::string pooling = "mean";
};
inline void describe(Keys& keys, SequenceClassifierSpec& spec) {
  describe(keys, spec.trunk);
  keys("pooling", spec.pooling, one_of({"mean", "cls"}),
       "classifier: mean of all tokens' outputs, or that of a class token put in front (cls)");
}

/// One label for each sequence: trunk with attention in both directions, pooling, linear head.
class SequenceClassifier : public Module {
 public:
  explicit SequenceClassifier(const SequenceClassifierSpec& spec);
  /// Sequence b has lengths[b] tokens, all T without lengths; the rest is padding, which
  /// changes neither logits nor gradients. tokens (B, T), lengths (B) -> logits (B, classes)
  Var logits(Tape& tape, const Indices& tokens, const std::vector<std::size_t>& lengths = {});
  /// Mean cross-entropy in nats per sequence. (B, T), (B), (B) -> ()
  Var loss(Tape& tape, const Indices& tokens, const Indices& labels,
           const std::vector<std::size_t>& lengths = {});
  void visit(Visitor& visitor) override;

 private:
  std::string pooling_;
  Trunk trunk_;
  Linear head_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
