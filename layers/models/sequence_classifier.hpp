#pragma once
#include <bochner/layers/models/trunk.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct SequenceClassifierSpec {
  TrunkSpec trunk;
  std::size_t classes = 2;
  std::string pooling = "mean";  ///< see pool()
};

/// One label for each sequence: trunk with attention in both directions, pooling, linear head.
class SequenceClassifier : public Module {
 public:
  explicit SequenceClassifier(const SequenceClassifierSpec& spec);
  /// tokens (B, T) -> logits (B, classes)
  Var logits(Tape& tape, const Indices& tokens);
  /// Mean cross-entropy in nats per sequence. (B, T), (B) -> ()
  Var loss(Tape& tape, const Indices& tokens, const Indices& labels);
  void visit(Visitor& visitor) override;

 private:
  std::string pooling_;
  Trunk trunk_;
  Linear head_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
