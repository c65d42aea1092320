#pragma once
/// Encoder of sequences of events, or of patches of images and series, to one vector each.

#include <bochner/layers/models/token_models.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Input of SequenceEncoder: tokens as rows of numbers, or as types of events.
struct EncoderInput {
  Tensor values = {};                     ///< (B, T, F), or empty
  Indices tokens = {};                    ///< (B, T), if there are no values
  std::vector<std::size_t> lengths = {};  ///< (B), or empty for T
  Times times = {};                       ///< of events (B, T)

  std::size_t size() const { return tokens.shape.empty() ? values.shape()[0] : tokens.shape[0]; }
};

struct SequenceEncoderSpec {
  TrunkSpec trunk;         ///< for events; values use its stack and length
  std::size_t values = 0;  ///< numbers per token (F), 0 for types of events
};

/// Embeds tokens, adds positions or times, runs blocks in both directions and averages. -> (B, D)
class SequenceEncoder : public Module {
 public:
  explicit SequenceEncoder(const SequenceEncoderSpec& spec);
  Var forward(Tape& tape, const EncoderInput& input) {
    return pool("mean", encode_tokens(tape, input), input.lengths);
  }
  /// Returns the time scale of events; null for values.
  TimeScale* time_scale() { return trunk_ ? &trunk_->time_scale() : nullptr; }
  void visit(Visitor& visitor) override;

 private:
  Var encode_tokens(Tape& tape, const EncoderInput& input);
  std::unique_ptr<Trunk> trunk_;  ///< for events; the others are for values
  std::unique_ptr<Linear> embedding_;
  std::unique_ptr<PositionEncoding> positions_;
  std::unique_ptr<BlockStack> stack_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
