#pragma once
/// Models of sequences of tokens: a trunk and a head, and losses that sample classes as noise.

#include <bochner/autodiff/ops/sampled_softmax.hpp>
#include <bochner/autodiff/tape.hpp>
#include <bochner/autodiff/weight_cache.hpp>
#include <bochner/base/keys.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/encodings/positions.hpp>
#include <bochner/layers/encodings/scales.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/encodings/token_places.hpp>
#include <bochner/layers/models/loss.hpp>
#include <bochner/layers/models/token_inputs.hpp>
#include <bochner/layers/module.hpp>
#include <string>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

struct NoiseSpec {
  std::string kind = "unigram";
  std::size_t draws = 1024;
  double power = 0.75;
};
inline void describe(Keys& keys, NoiseSpec& spec) {
  keys("kind", spec.kind, one_of({"unigram", "uniform"}),
       "noise tokens are drawn as often as they occur in the training data (unigram) or uniformly");
  keys("draws", spec.draws, between(1, 1 << 20),
       "noise tokens for a batch, drawn with replacement and shared by its tokens");
  keys.when("kind", {"unigram"})(
      "power", spec.power, between(0, 4),
      "power of the token frequency; below 1, rare tokens are drawn more often than they occur");
}

/// Computes sampled_softmax() or noise_contrastive() of a linear map of x to V classes; draws
/// depend on the tape's seed and step.
class NoiseLoss : public Module {
 public:
  /// `kind` is "sampled_softmax" or "nce". Noise is uniform until count().
  NoiseLoss(const std::string& kind, const NoiseSpec& spec, std::size_t classes);
  /// Sets unigram noise to (1 + occurrences of each class)^power.
  void count(const std::vector<double>& occurrences);
  /// x (.., D), w (D, V), bias (V), labels (..), -1 for none -> ()
  Var forward(Tape& tape, const Var& x, const Var& w, const Var& bias, const Indices& labels);
  void visit(Visitor& visitor) override {
    visitor("weights", weights_);
    if (log_z_) visitor("log_z", *log_z_);
  }

 private:
  NoiseClasses draw(const RandomFunction& random) const;

  NoiseSpec spec_;
  Tensor weights_;                    // (V), a buffer: sampling weights of classes
  std::unique_ptr<Parameter> log_z_;  // (1) for nce, initially ln V, for scores of 0
};

struct TrunkSpec : StackSpec {
  std::size_t vocabulary = 256;
  std::size_t length = 256;  ///< longest training sequence; number of learned positions
  bool timed = false;        ///< tokens have time stamps for encodings and time kernels
  TimeEncodingSpec time;     ///< for timed tokens
  // positions "encoding"
  SpaceTimeSpec encoding = {};  ///< width and dimensions are set later
  bool every_block = false;
  TokenPlacesSpec places = {};
};
inline void describe(Keys& keys, TrunkSpec& spec) {
  describe(keys, static_cast<StackSpec&>(spec));
  keys.when(when("data.kind", {"event_files", "hawkes"})).section("time", spec.time);
  keys.when("positions", {"encoding"}, [&] {
    keys.section("encoding", spec.encoding);
    describe_every_block(keys, spec.every_block);
  });
}

/// Part of token models below the head: embedding, positions, blocks.
class Trunk : public Module {
 public:
  explicit Trunk(const TrunkSpec& spec);
  /// Computes features. `times` (B, T) of timed tokens ascend, in units of the data. tokens (B, T),
  /// lengths (B) or none -> (B, T, D)
  Var forward(Tape& tape, const Indices& tokens, const std::vector<std::size_t>& lengths = {},
              const Times& times = {});

  /// State of B sequences for step().
  struct State {
    BlockStack::State blocks;
    std::size_t position = 0;
    double time = 0;                        ///< of the previous token, in units of the encoding
    std::vector<TokenCursor> cursors = {};  ///< per sequence, created at the first token
  };
  State start() const { return {stack_.start()}; }
  /// Processes the next token of each of B sequences, all at `time` if tokens are timed; B must not
  /// change. Equals the batch output at its position up to rounding. -> (B, 1, D)
  Var step(Tape& tape, const std::vector<std::int32_t>& tokens, State& state, double time = 0);
  /// Returns origin and unit of token times; fit them to the training data before the first step.
  TimeScale& time_scale() { return scale_; }
  std::size_t vocabulary() const { return embedding_.vocabulary(); }
  /// Returns the number of positions; start a new state beyond.
  std::size_t position_limit() const;

  /// Visits the parts without a name prefix.
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
  LossSpec loss = {"cross_entropy"};  ///< in training; "nce" and "sampled_softmax" sample noise
  NoiseSpec noise = {};
};
/// Describes the keys; model.loss, whose default differs, is that of LossSpec.
inline void describe(Keys& keys, LanguageModelSpec& spec) {
  describe(keys, static_cast<TrunkSpec&>(spec));
  keys.when(loss_is(keys, {"nce", "sampled_softmax"})).section("noise", spec.noise);
}

/// Language model: predicts the next token by a trunk and a linear head.
class LanguageModel : public Module {
 public:
  explicit LanguageModel(const LanguageModelSpec& spec);
  explicit LanguageModel(const TrunkSpec& trunk) : LanguageModel(LanguageModelSpec{trunk}) {}
  /// Returns logits. `times` (B, T) of timed tokens, see Trunk. tokens (B, T) -> (B, T, V)
  Var logits(Tape& tape, const Indices& tokens, const Times& times = {});
  /// Returns the mean cross-entropy in nats, in training the spec's loss. (B, T), (B, T) -> ()
  Var loss(Tape& tape, const Indices& tokens, const Indices& targets, const Times& times = {});
  TimeScale& time_scale() { return trunk_.time_scale(); }
  /// Returns the noise, to count targets into before the first step; null for cross_entropy.
  NoiseLoss* noise() { return noise_.get(); }

  /// State of sequences for step(); parameters must not change during its life. start() throws
  /// NoSteps if a mixer has no steps.
  struct State {
    std::size_t position = 0, sequences = 0;
    std::vector<Trunk::State> groups = {};  ///< one per group of sequences
    std::unique_ptr<WeightCache> cache = std::make_unique<WeightCache>();
    const LanguageModel* model = nullptr;  ///< set at the first token
  };
  State start() const {
    static_cast<void>(trunk_.start());  // throws if a mixer has no steps
    return {};
  }
  /// Returns logits (B, V) after the next token of each of B sequences, all at `time` if tokens are
  /// timed; B must not change. Equal to those of the batch at its position up to rounding.
  Tensor step(const std::vector<std::int32_t>& tokens, State& state, double time = 0);
  /// Steps one sequence. -> (V)
  Tensor step(std::int32_t token, State& state, double time = 0) {
    Tensor logits = step(std::vector{token}, state, time);
    logits.reshape(Shape{logits.size()});
    return logits;
  }
  /// Returns the number of positions; start a new state beyond.
  std::size_t position_limit() const { return trunk_.position_limit(); }

  void visit(Visitor& visitor) override {
    trunk_.visit(visitor);
    visitor("head", head_);
    if (noise_) visitor("noise", *noise_);
  }

 private:
  /// Checks all tokens before any group steps.
  void require_tokens(const std::vector<std::int32_t>& tokens) const;
  void begin(State& state, std::size_t sequences);
  /// Returns logits (b, V) of the b sequences of a group.
  Tensor step_group(const std::vector<std::int32_t>& tokens, Trunk::State& state,
                    WeightCache& cache, double time);

  Trunk trunk_;
  Linear head_;
  // In training; null for cross entropy.
  std::unique_ptr<NoiseLoss> noise_;
  std::unique_ptr<LabelLoss> loss_;
};

struct SequenceClassifierSpec {
  TrunkSpec trunk;
  std::size_t classes = 2;
  std::string pooling = "mean";
};
inline void describe_pooling(Keys& keys, std::string& pooling) {
  keys("pooling", pooling, one_of({"mean", "cls"}),
       "mean of the outputs of all tokens, or the output of a class token in front (cls)");
}
inline void describe(Keys& keys, SequenceClassifierSpec& spec) {
  describe(keys, spec.trunk);
  describe_pooling(keys, spec.pooling);
}

/// Classifies sequences: trunk with attention in both directions, pooling, linear head.
class SequenceClassifier : public Module {
 public:
  explicit SequenceClassifier(const SequenceClassifierSpec& spec);
  /// Returns logits. Tokens from lengths[b] on are padding, without effect on logits and gradients.
  /// `times` (B, T) of timed tokens, see Trunk. tokens (B, T), lengths (B) -> (B, classes)
  Var logits(Tape& tape, const Indices& tokens, const std::vector<std::size_t>& lengths = {},
             const Times& times = {});
  /// Returns the mean cross-entropy in nats per sequence. (B, T), (B), (B) -> ()
  Var loss(Tape& tape, const Indices& tokens, const Indices& labels,
           const std::vector<std::size_t>& lengths = {}, const Times& times = {});
  TimeScale& time_scale() { return trunk_.time_scale(); }
  void visit(Visitor& visitor) override {
    trunk_.visit(visitor);
    visitor("head", head_);
  }

 private:
  std::string pooling_;
  Trunk trunk_;
  Linear head_;
};

/// Pools sequences: "mean" over the first lengths[b] tokens, without effect of padding on value and
/// gradient, or "cls", the first token. (B, T, D), lengths (B) or none -> (B, D)
Var pool(const std::string& kind, const Var& x, const std::vector<std::size_t>& lengths = {});

}  // namespace bochner::inline BOCHNER_PRECISION
