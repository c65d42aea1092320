#pragma once
/// Contrastive learning of embeddings: losses for two views of examples and for views and
/// prototypes, encoder, projection and prototypes.

#include <bochner/autodiff/tape.hpp>
#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/models/token_models.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Divides rows by their lengths. (.., D) -> (.., D)
Var unit_rows(const Var& x);

/// Returns the cosines between views of unit length over the temperature, -1e9 on the diagonal;
/// rows are the first views of B examples, then the second. (2 B, E) -> (2 B, 2 B)
Var view_similarities(const Var& views, double temperature);
/// Returns the index of each view's other view. -> (2 B)
Indices partners(std::size_t B);
/// Computes InfoNCE: the mean of -ln softmax of the similarity to the other view among all 2 B - 1
/// others. (2 B, E) -> (). Chen et al., "A simple framework for contrastive learning of visual
/// representations", 2020, equation 1.
Var info_nce(const Var& views, double temperature);

/// Computes the mean over views of -ln softmax over clusters of v . c / phi at the view's label.
/// Views and centres (K, E) have unit length; centres get no gradient. (n, E), (K, E), (K), (n) ->
/// (). Li et al., "Prototypical contrastive learning", 2021, equation 11, over all clusters.
Var prototype_nce(const Var& views, const Tensor& centres, const Tensor& concentrations,
                  const Indices& labels);

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
  /// Returns the outputs of all tokens, before their mean. -> (B, T, D)
  Var encode_tokens(Tape& tape, const EncoderInput& input);
  /// Returns the time scale of events; null for values.
  TimeScale* time_scale() { return trunk_ ? &trunk_->time_scale() : nullptr; }
  void visit(Visitor& visitor) override {
    if (trunk_) return trunk_->visit(visitor);
    visitor("embedding", *embedding_);
    if (positions_) visitor("positions", *positions_);
    stack_->visit(visitor);
  }

 private:
  std::unique_ptr<Trunk> trunk_;  ///< for events; the others are for values
  std::unique_ptr<Linear> embedding_;
  std::unique_ptr<PositionEncoding> positions_;
  std::unique_ptr<BlockStack> stack_;
};

struct ContrastSpec {
  std::string kind = "info_nce";
  double temperature = 0.2;
  std::size_t width = 64;                    ///< of the projections (E)
  std::vector<double> clusters = {50, 100};  ///< per clustering (prototypes)
  double start = 1;                          ///< epochs before the first clustering
  std::size_t rounds = 20;                   ///< k-means rounds
};
inline void describe(Keys& keys, ContrastSpec& spec) {
  keys("kind", spec.kind, one_of({"info_nce", "prototypes"}),
       "contrast two views of an example with the rest of the batch (info_nce), and also each view "
       "with clusters of all training examples, found anew every epoch (prototypes)");
  keys("temperature", spec.temperature, above(0),
       "divisor of cosines; for prototypes, their mean concentration");
  keys("width", spec.width, between(1, 1 << 16),
       "width of the contrasted projection; embeddings have model.width");
  keys.when("kind", {"prototypes"}, [&] {
    keys("clusters", spec.clusters, between(2, 1 << 20), "number of clusters of each clustering");
    keys("start", spec.start, at_least(0), "epochs of info_nce before the first clustering");
    keys("rounds", spec.rounds, between(1, 10000), "most rounds of k-means");
  });
}

/// Clusterings of the training examples; buffers, so that a run can resume.
class Prototypes : public Module {
 public:
  /// Takes the number of training examples.
  Prototypes(const ContrastSpec& spec, std::size_t examples);
  /// Returns the number of epochs begun at the last clustering; 0 before the first.
  std::uint64_t epochs() const { return std::uint64_t(epochs_.data()[0]); }
  /// Runs k-means on all training projections (n, E), with starts by seed and epoch.
  void cluster(const std::vector<double>& projections, std::uint64_t seed, std::uint64_t epoch);
  /// Returns the mean of prototype_nce() over clusterings, for the clusters of `examples`. (n, E)
  Var loss(const Var& views, const std::vector<std::size_t>& examples) const;
  void visit(Visitor& visitor) override;

 private:
  struct Clustering {
    Tensor centres, concentrations, labels;  // (K, E), (K), (examples)
  };
  ContrastSpec spec_;
  std::vector<Clustering> all_;
  Tensor epochs_;  // (1)
};

struct ContrastModelSpec {
  SequenceEncoderSpec encoder;
  ContrastSpec contrast;
  std::size_t examples = 1;  ///< training examples
  // series
  std::size_t variates = 0, series = 1;
};
/// Config keys beyond those of other models.
struct ContrastKeys {
  ContrastSpec contrast;
};
inline void describe(Keys& keys, ContrastKeys& spec) { keys.section("contrast", spec.contrast); }

/// Embeddings of sequences, similar for views of the same example.
class ContrastModel : public Module {
 public:
  explicit ContrastModel(const ContrastModelSpec& spec);
  /// Embeds sequences. -> (B, D)
  Var embed(Tape& tape, const EncoderInput& input) { return encoder_.forward(tape, input); }
  /// Projects embeddings by an MLP to unit length. (B, D) -> (B, E)
  Var project(Tape& tape, const Var& embeddings) {
    return unit_rows(projection_.forward(tape, hidden_.forward_gelu(tape, embeddings)));
  }
  /// Returns InfoNCE of the first views of B examples and then the second, plus the loss of
  /// prototypes once there are any. `examples` (B) are indices of training examples. -> ()
  Var loss(Tape& tape, const EncoderInput& views, const std::vector<std::size_t>& examples);
  /// Returns the standardization of series, else null.
  Standardize* standardize() const { return unit_.get(); }
  /// Returns null without prototypes.
  Prototypes* prototypes() { return prototypes_.get(); }
  TimeScale* time_scale() { return encoder_.time_scale(); }
  const ContrastModelSpec& spec() const { return spec_; }
  void visit(Visitor& visitor) override {
    if (unit_) visitor("unit", *unit_);
    encoder_.visit(visitor);
    visitor("hidden", hidden_);
    visitor("projection", projection_);
    if (prototypes_) visitor("prototypes", *prototypes_);
  }

 private:
  ContrastModelSpec spec_;
  std::unique_ptr<Standardize> unit_;
  SequenceEncoder encoder_;
  Linear hidden_, projection_;
  std::unique_ptr<Prototypes> prototypes_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
