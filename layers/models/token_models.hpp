#pragma once
/// Models of sequences of tokens: a trunk and a head.

#include <bochner/autodiff/tape.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/encodings/time_scale.hpp>
#include <bochner/layers/encodings/token_places.hpp>
#include <bochner/layers/models/noise_loss.hpp>
#include <bochner/layers/models/placed_tokens.hpp>
#include <bochner/layers/models/time_input.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct TrunkSpec : StackSpec {
  std::size_t vocabulary = 256;
  std::size_t length = 256;  ///< longest training sequence; the number of learned positions
  bool timed = false;        ///< tokens have time stamps, which encodings and time kernels see
  TimeEncodingSpec time;     ///< of timed tokens
  // positions "encoding"
  SpaceTimeSpec encoding = {};  ///< its width and its dimensions are filled in
  bool every_block = false;
  TokenPlacesSpec places = {};
};
inline void describe(Keys& keys, TrunkSpec& spec) {
  describe(keys, static_cast<StackSpec&>(spec));
  keys.section("time", spec.time);
  keys.section("encoding", spec.encoding);
  describe_every_block(keys, spec.every_block);
}

/// What models of token sequences share below their heads: embedding, positions, block stack.
class Trunk : public Module {
 public:
  explicit Trunk(const TrunkSpec& spec);
  /// `times` (B, T) of timed tokens, ascending, in the unit of the data. tokens (B, T), lengths (B)
  /// or none -> (B, T, D)
  Var forward(Tape& tape, const Indices& tokens, const std::vector<std::size_t>& lengths = {},
              const Times& times = {});

  /// The past of some sequences, for step().
  struct State {
    BlockStack::State blocks;
    std::size_t position = 0;
    double time = 0;                        ///< of the token before, in units of the encoding
    std::vector<TokenCursor> cursors = {};  ///< of each sequence, made at its first token
  };
  State start() const { return {stack_.start()}; }
  /// One more token of each of B sequences, as many at every call, all at `time` if tokens are
  /// timed; up to rounding the whole sequence's output at its position. -> (B, 1, D)
  Var step(Tape& tape, const std::vector<std::int32_t>& tokens, State& state, double time = 0);
  /// Origin and unit of the times of tokens; set it from the training data before the first step.
  TimeScale& time_scale() { return scale_; }
  std::size_t vocabulary() const { return embedding_.vocabulary(); }
  /// Positions that can be encoded; the state must be restarted beyond.
  std::size_t position_limit() const;

  /// Adds no name of its own: the parts stand beside the model's head.
  void visit(Visitor& visitor) override;

 private:
  PlacedTokens placed_tokens(Tape& tape, const Var& x, const TokenPoints& points);
  TokenPlaces places_;
  bool every_block_;
  std::unique_ptr<SpaceTimeEncoding> place_encoding_;
  Embedding embedding_;
  bool timed_;
  TimeScale scale_;
  TimeInput time_;
  std::unique_ptr<PositionEncoding> positions_;
  BlockStack stack_;
};

struct LanguageModelSpec : TrunkSpec {
  std::string loss = "cross_entropy";  ///< of training; "nce" and "sampled_softmax" see noise
  NoiseSpec noise = {};
};
/// model.loss is described where other models have theirs, ForecasterSpec.
inline void describe(Keys& keys, LanguageModelSpec& spec) {
  describe(keys, static_cast<TrunkSpec&>(spec));
  keys.section("noise", spec.noise);
}

/// Predicts the next token: trunk, linear head.
class LanguageModel : public Module {
 public:
  explicit LanguageModel(const LanguageModelSpec& spec);
  explicit LanguageModel(const TrunkSpec& trunk) : LanguageModel(LanguageModelSpec{trunk}) {}
  /// `times` (B, T) of timed tokens, see Trunk. tokens (B, T) -> logits (B, T, V)
  Var logits(Tape& tape, const Indices& tokens, const Times& times = {});
  /// Mean cross-entropy in nats per token; on a tape that is training, what the spec says in its
  /// place. (B, T), (B, T) -> ()
  Var loss(Tape& tape, const Indices& tokens, const Indices& targets, const Times& times = {});
  TimeScale& time_scale() { return trunk_.time_scale(); }
  /// Count targets into it before the first step; null where training sees all logits.
  NoiseLoss* noise() { return noise_.get(); }

  /// The past of some sequences, for step(); no parameter may change before its last token.
  /// start() throws NoSteps where a mixer has none.
  struct State {
    std::size_t position = 0, sequences = 0;
    std::vector<Trunk::State> groups = {};  ///< of sequences that one thread steps
    std::unique_ptr<WeightCache> kept = std::make_unique<WeightCache>();
    const LanguageModel* model = nullptr;  ///< whose past it is, from the first token on
  };
  State start() const;
  /// Logits (B, V) after one more token of each of B sequences, as many at every call, all at
  /// `time` if tokens are timed; up to rounding those of the whole sequence at its position.
  Tensor step(const std::vector<std::int32_t>& tokens, State& state, double time = 0);
  /// The same of one sequence. -> (V)
  Tensor step(std::int32_t token, State& state, double time = 0);
  /// Positions that can be encoded; the state must be restarted beyond.
  std::size_t position_limit() const { return trunk_.position_limit(); }

  void visit(Visitor& visitor) override;

 private:
  /// Before any group has moved on.
  void require_tokens(const std::vector<std::int32_t>& tokens) const;
  void begin(State& state, std::size_t sequences);
  /// Logits (b, V) of the b sequences of a group.
  Tensor step_group(const std::vector<std::int32_t>& tokens, Trunk::State& state, WeightCache& kept,
                    double time);

  Trunk trunk_;
  Linear head_;
  std::unique_ptr<NoiseLoss> noise_;  // or null
};

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
  /// changes neither logits nor gradients. `times` (B, T) of timed tokens, see Trunk. tokens (B,
  /// T), lengths (B) -> logits (B, classes)
  Var logits(Tape& tape, const Indices& tokens, const std::vector<std::size_t>& lengths = {},
             const Times& times = {});
  /// Mean cross-entropy in nats per sequence. (B, T), (B), (B) -> ()
  Var loss(Tape& tape, const Indices& tokens, const Indices& labels,
           const std::vector<std::size_t>& lengths = {}, const Times& times = {});
  TimeScale& time_scale() { return trunk_.time_scale(); }
  void visit(Visitor& visitor) override;

 private:
  std::string pooling_;
  Trunk trunk_;
  Linear head_;
};

/// One vector for each sequence. "mean": over the first lengths[b] tokens, over all T without
/// lengths; what lies behind changes neither value nor gradient. "cls": the first token's.
/// (B, T, D), lengths (B) -> (B, D)
Var pool(const std::string& kind, const Var& x, const std::vector<std::size_t>& lengths = {});

}  // namespace bochner::inline BOCHNER_PRECISION
