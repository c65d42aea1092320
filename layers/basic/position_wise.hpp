#pragma once
/// Layers that treat every position by itself.

#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/module.hpp>
#include <optional>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// y = x weight + bias, weight (in, out), both started uniformly in +-1/sqrt(in). (.., in) -> (..,
/// out)
class Linear : public Module {
 public:
  Linear(std::size_t in, std::size_t out);
  Var forward(Tape& tape, const Var& x);
  /// The same elements in another shape, as x may be: rows are rows of `in`.
  Var forward(Tape& tape, const Var& x, const Shape& shape);
  /// residual + y, of the residual's shape.
  Var forward_add(Tape& tape, const Var& residual, const Var& x);
  /// gelu(y)
  Var forward_gelu(Tape& tape, const Var& x);
  /// (in, out) and (out), for losses that see some of y only.
  Var weight(Tape& tape) { return tape(weight_); }
  Var bias(Tape& tape) { return tape(bias_); }
  /// Where all of y starts besides.
  void shift_bias(double by);
  void visit(Visitor& visitor) override;

 private:
  Parameter weight_, bias_;
};

/// a sigmoid(b) for [a, b] = W gelu(x): what S4 and SGConv have behind their mixer, in place of an
/// MLP. (.., D) -> (.., D)
class GatedOutput : public Module {
 public:
  explicit GatedOutput(std::size_t width) : linear_(width, 2 * width) {}
  Var forward(Tape& tape, const Var& x);
  void visit(Visitor& visitor) override { linear_.visit(visitor); }

 private:
  Linear linear_;
};

/// Rows of a table (vocabulary, width), started normally with deviation 0.02. indices (..) -> (..,
/// width)
class Embedding : public Module {
 public:
  Embedding(std::size_t vocabulary, std::size_t width)
      : weight_({vocabulary, width}, Initial::normal(0.02)) {}
  std::size_t vocabulary() const { return weight_.shape()[0]; }
  Var forward(Tape& tape, const Indices& indices) { return gather(tape(weight_), indices); }
  void visit(Visitor& visitor) override { visitor("weight", weight_); }

 private:
  Parameter weight_;
};

/// A normalisation over the last axis: of each row by itself, which row_norm() tells, or in a
/// forward() of its own. (.., D) -> (.., D)
class Norm : public Module {
 public:
  /// Tokens of x (B, T, D) behind lengths[b] are padding; without lengths there is none.
  virtual Var forward(Tape& tape, const Var& x, const std::vector<std::size_t>& lengths = {});
  /// What ops may do to rows in passing; nothing where a row depends on others.
  virtual std::optional<RowNorm> row_norm(Tape& tape) { return (void)tape, std::nullopt; }
};

/// Rows under a norm, normalised where they are read, or all at once for who needs them rows.
class Normed {
 public:
  /// `lengths` as Norm::forward() has them.
  Normed(const Var& x, Norm& norm, const std::vector<std::size_t>& lengths)
      : x_(x), norm_(&norm), lengths_(lengths) {}
  /// Rows that are normalised already.
  explicit Normed(const Var& x) : normalized_(x) {}
  std::size_t dim(int axis) const { return (norm_ ? x_ : normalized_).dim(axis); }
  /// (.., D)
  const Var& rows(Tape& tape);
  /// The same, of which nothing is left here: what no gradient needs is freed after its last use.
  Var take_rows(Tape& tape) {
    rows(tape);
    return std::move(normalized_);
  }
  /// linear(x) of each, of `shape`.
  std::vector<Var> forward(Tape& tape, const std::vector<Linear*>& linear, const Shape& shape);

 private:
  Var x_, normalized_;  // the second one where it is there
  Norm* norm_ = nullptr;
  std::vector<std::size_t> lengths_;
};

/// Mean 0 and variance 1 over the last axis, then gain and bias.
class LayerNorm : public Norm {
 public:
  explicit LayerNorm(std::size_t width);
  std::optional<RowNorm> row_norm(Tape& tape) override;
  void visit(Visitor& visitor) override;

 private:
  Parameter gain_, bias_;
};

/// Mean square 1 over the last axis, then gain.
class RMSNorm : public Norm {
 public:
  explicit RMSNorm(std::size_t width);
  std::optional<RowNorm> row_norm(Tape& tape) override;
  void visit(Visitor& visitor) override;

 private:
  Parameter gain_;
};

/// Mean 0 and variance 1 of every channel over all tokens of the batch while the tape is training,
/// see batch_norm(); else by running moments, buffers, of which each batch that is learned from
/// leaves the part `momentum`. Then gain and bias.
class BatchNorm : public Norm {
 public:
  explicit BatchNorm(std::size_t width, double momentum = 0.9);
  Var forward(Tape& tape, const Var& x, const std::vector<std::size_t>& lengths = {}) override;
  void visit(Visitor& visitor) override;

 private:
  void update_running_stats(const BatchMoments& moments);
  double momentum_;
  Parameter gain_, bias_;
  Tensor mean_, variance_;
};

/// "layer", "rms" or "batch", the last with its momentum.
std::unique_ptr<Norm> make_norm(const std::string& kind, std::size_t width, double momentum = 0.9);

/// Two linear maps with a gelu between them, or ("swiglu") a product of two linear maps, silu of
/// one of them, under a third: W3 (silu(W1 x) * W2 x), with W2 and W1 side by side in `up`. (.., D)
/// -> (.., D) through (.., hidden)
class MLP : public Module {
 public:
  MLP(std::size_t width, std::size_t hidden, const std::string& kind = "gelu");
  Var forward(Tape& tape, const Var& x);
  /// x + y of norm(x); `lengths` as the norm has them.
  Var forward_residual(Tape& tape, const Var& x, Norm& norm,
                       const std::vector<std::size_t>& lengths = {});
  void visit(Visitor& visitor) override {
    visitor("up", up_);
    visitor("down", down_);
  }

 private:
  Var hidden(Tape& tape, const Var& x);
  bool gated_;
  Linear up_, down_;
};

/// Zeroes elements with probability `rate` while the tape is training. (..) -> (..)
class Dropout : public Module {
 public:
  explicit Dropout(double rate);
  Var forward(Tape& tape, const Var& x) const;
  bool acts(const Tape& tape) const { return rate_ > 0 && tape.training; }
  void visit(Visitor&) override {}

 private:
  real rate_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
