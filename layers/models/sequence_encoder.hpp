#pragma once
/// Sequences of events, or of pieces of images and series, as one vector each.

#include <bochner/layers/models/token_models.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Sequences as a SequenceEncoder takes them: tokens that are rows of numbers, or types of events.
struct EncoderInput {
  Tensor values = {};                     ///< (B, T, F), or nothing
  Indices tokens = {};                    ///< (B, T), where there are no values
  std::vector<std::size_t> lengths = {};  ///< (B), or none for T
  Times times = {};                       ///< of events (B, T)

  std::size_t size() const { return tokens.shape.empty() ? values.shape()[0] : tokens.shape[0]; }
};

struct SequenceEncoderSpec {
  TrunkSpec trunk;         ///< of events; of values its stack and its length
  std::size_t values = 0;  ///< numbers of a token (F), 0 for types of events
};

/// Tokens by a linear map or an embedding, positions or times, blocks in both directions, and the
/// mean over tokens. -> (B, D)
class SequenceEncoder : public Module {
 public:
  explicit SequenceEncoder(const SequenceEncoderSpec& spec);
  Var forward(Tape& tape, const EncoderInput& input);
  /// Of the times of events; null for values.
  TimeScale* time_scale() { return trunk_ ? &trunk_->time_scale() : nullptr; }
  void visit(Visitor& visitor) override;

 private:
  Var encoded(Tape& tape, const EncoderInput& input);
  std::unique_ptr<Trunk> trunk_;  ///< of events; the others are of values
  std::unique_ptr<Linear> embedding_;
  std::unique_ptr<PositionEncoding> positions_;
  std::unique_ptr<BlockStack> stack_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
