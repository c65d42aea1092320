#pragma once
/// Layers that act on each position separately.

#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/registry.hpp>
#include <bochner/layers/module.hpp>
#include <optional>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// Linear map x weight + bias, both initially uniform in +-1/sqrt(in). (.., in) -> (.., out)
class Linear : public Module {
 public:
  Linear(std::size_t in, std::size_t out);
  /// Starts with a bias of 0.
  Linear(std::size_t in, std::size_t out, const Initial& weight)
      : weight_({in, out}, weight), bias_({out}) {}
  Var forward(Tape& tape, const Var& x) { return affine(x, tape(weight_), tape(bias_)); }
  /// Returns y reshaped to `shape`; rows of x are rows of `in`.
  Var forward(Tape& tape, const Var& x, const Shape& shape) {
    return affine(x, tape(weight_), tape(bias_), shape);
  }
  /// Returns residual + y in the residual's shape.
  Var forward_add(Tape& tape, const Var& residual, const Var& x) {
    return affine_add(residual, x, tape(weight_), tape(bias_));
  }
  Var forward_gelu(Tape& tape, const Var& x) { return affine_gelu(x, tape(weight_), tape(bias_)); }
  /// Weight (in, out) and bias (out), for losses that need only parts of y.
  Var weight(Tape& tape) { return tape(weight_); }
  Var bias(Tape& tape) { return tape(bias_); }
  void shift_bias(double by);
  void visit(Visitor& visitor) override {
    visitor("weight", weight_);
    visitor("bias", bias_);
  }

 private:
  Parameter weight_, bias_;
};

/// Gated output a sigmoid(b), [a, b] = W gelu(x), of S4 and SGConv. (.., D) -> (.., D)
class GatedOutput : public Module {
 public:
  explicit GatedOutput(std::size_t width) : linear_(width, 2 * width) {}
  Var forward(Tape& tape, const Var& x);
  void visit(Visitor& visitor) override { linear_.visit(visitor); }

 private:
  Linear linear_;
};

/// Table (vocabulary, width), initially normal of deviation 0.02. indices (..) -> (.., width)
class Embedding : public Module {
 public:
  Embedding(std::size_t vocabulary, std::size_t width)
      : weight_({vocabulary, width}, Initial::normal(0.02)) {}
  std::size_t vocabulary() const { return weight_.shape()[0]; }
  std::size_t width() const { return weight_.shape()[1]; }
  Var forward(Tape& tape, const Indices& indices) { return gather(tape(weight_), indices); }
  Var weight(Tape& tape) { return tape(weight_); }  // (V, D)
  void visit(Visitor& visitor) override { visitor("weight", weight_); }

 private:
  Parameter weight_;
};

/// Norm over the last axis: overrides row_norm() if rows are independent, else forward().
class Norm : public Module {
 public:
  /// Normalizes x (B, T, D), where tokens from lengths[b] on are padding; no lengths: no padding.
  virtual Var forward(Tape& tape, const Var& x, const std::vector<std::size_t>& lengths = {});
  /// Returns the norm of a row, for ops that fuse it, or nothing if rows depend on each other.
  virtual std::optional<RowNorm> row_norm(Tape& tape) { return (void)tape, std::nullopt; }
};

/// Rows under a norm, normalized lazily: fused into ops that read them, or at once.
class Normed {
 public:
  Normed(const Var& x, Norm& norm, const std::vector<std::size_t>& lengths)
      : x_(x), norm_(&norm), lengths_(lengths) {}
  /// Wraps rows that are normalized already.
  explicit Normed(const Var& x) : normalized_(x) {}
  std::size_t dim(int axis) const { return (norm_ ? x_ : normalized_).dim(axis); }
  /// Returns the normalized rows (.., D).
  const Var& rows(Tape& tape) {
    if (!normalized_.exists()) normalized_ = norm_->forward(tape, x_, lengths_);
    return normalized_;
  }
  /// Moves the normalized rows out, so that they can be freed after their last use.
  Var take_rows(Tape& tape) {
    rows(tape);
    return std::move(normalized_);
  }
  /// Applies each linear map and reshapes to `shape`.
  std::vector<Var> forward(Tape& tape, const std::vector<Linear*>& linear, const Shape& shape);

 private:
  Var x_, normalized_;  // normalized_ exists once computed
  Norm* norm_ = nullptr;
  std::vector<std::size_t> lengths_;
};

/// Layer normalization: mean 0 and variance 1 over the last axis, then gain and bias.
class LayerNorm : public Norm {
 public:
  explicit LayerNorm(std::size_t width);
  std::optional<RowNorm> row_norm(Tape& tape) override {
    return RowNorm{tape(gain_), tape(bias_), real(1e-5)};
  }
  void visit(Visitor& visitor) override {
    visitor("gain", gain_);
    visitor("bias", bias_);
  }

 private:
  Parameter gain_, bias_;
};

/// RMS normalization: mean square 1 over the last axis, then gain.
class RMSNorm : public Norm {
 public:
  explicit RMSNorm(std::size_t width);
  std::optional<RowNorm> row_norm(Tape& tape) override;
  void visit(Visitor& visitor) override;

 private:
  Parameter gain_;
};

/// Batch normalization: mean 0 and variance 1 per channel over the batch's tokens in training, see
/// batch_norm(), else by running statistics (buffers, `momentum` on the past); then gain and bias.
class BatchNorm : public Norm {
 public:
  explicit BatchNorm(std::size_t width, double momentum = 0.9);
  Var forward(Tape& tape, const Var& x, const std::vector<std::size_t>& lengths = {}) override;
  void visit(Visitor& visitor) override {
    visitor("gain", gain_);
    visitor("bias", bias_);
    visitor("mean", mean_);
    visitor("variance", variance_);
  }

 private:
  void update_running_stats(const BatchMoments& moments);
  double momentum_;
  Parameter gain_, bias_;
  Tensor mean_, variance_;
};

struct NormSpec {
  std::size_t width;
  double momentum = 0.9;  ///< of batch
  OwnSpecs own = {};      ///< specs of custom norms
};
/// Properties of a kind of norm.
struct NormTraits {
  bool crosses_tokens = false;  ///< not for models that predict at every token
};
using Norms = Registry<Norm, NormSpec, NormTraits>;
/// Registry of norms, named by model.norm; add custom ones here.
Norms& norms();

/// Network of single tokens, in a residual of its own after each mixer.
class FeedForward : public Module {
 public:
  /// x (.., D) -> (.., D)
  virtual Var forward(Tape& tape, const Var& x) = 0;
  /// Returns x + forward(norm(x)); `lengths` as in Norm::forward().
  virtual Var forward_residual(Tape& tape, const Var& x, Norm& norm,
                               const std::vector<std::size_t>& lengths);
};
struct FeedForwardSpec {
  std::size_t width, hidden;
  OwnSpecs own = {};  ///< specs of custom networks
};
using FeedForwards = Registry<FeedForward, FeedForwardSpec>;
/// Registry of networks after mixers, named by model.mlp; add custom ones here.
FeedForwards& mlps();

/// Feed-forward network: two linear maps with a gelu between them, or for "swiglu" W3 (silu(W1 x) *
/// W2 x), where `up` holds W2 and W1. (.., D) -> (.., D) through (.., hidden)
class MLP : public FeedForward {
 public:
  MLP(std::size_t width, std::size_t hidden, const std::string& kind = "gelu");
  Var forward(Tape& tape, const Var& x) override { return down_.forward(tape, hidden(tape, x)); }
  Var forward_residual(Tape& tape, const Var& x, Norm& norm,
                       const std::vector<std::size_t>& lengths) override;
  void visit(Visitor& visitor) override {
    visitor("up", up_);
    visitor("down", down_);
  }

 private:
  Var hidden(Tape& tape, const Var& x);
  bool gated_;
  Linear up_, down_;
};

/// Zeroes elements with probability `rate` in training. (..) -> (..)
class Dropout : public Module {
 public:
  explicit Dropout(double rate);
  Var forward(Tape& tape, const Var& x) const;
  bool acts(const Tape& tape) const { return rate_ > 0 && tape.training; }
  void visit(Visitor&) override {}

 private:
  real rate_;
};

/// Drops x for whole sequences in training and scales the others by 1 / (1 - rate). (B, ..) -> (B,
/// ..). Huang et al., "Deep networks with stochastic depth", 2016.
class StochasticDepth : public Module {
 public:
  explicit StochasticDepth(double rate) : rate_(rate) {}
  Var forward(Tape& tape, const Var& x) const;
  bool acts(const Tape& tape) const { return rate_ > 0 && tape.training; }
  void visit(Visitor&) override {}

 private:
  double rate_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
