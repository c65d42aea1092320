#pragma once
/// Layers that treat every position by itself.

#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/module.hpp>
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
  /// gelu(y)
  Var forward_gelu(Tape& tape, const Var& x);
  void visit(Visitor& visitor) override;

 private:
  Parameter weight_, bias_;
};

/// Two linear maps with a gelu between them. (.., D) -> (.., D) through (.., hidden)
class MLP : public Module {
 public:
  MLP(std::size_t width, std::size_t hidden) : up_(width, hidden), down_(hidden, width) {}
  Var forward(Tape& tape, const Var& x) { return down_.forward(tape, up_.forward_gelu(tape, x)); }
  void visit(Visitor& visitor) override {
    visitor("up", up_);
    visitor("down", down_);
  }

 private:
  Linear up_, down_;
};

/// Rows of a table (vocabulary, width), started normally with deviation 0.02. indices (..) -> (..,
/// width)
class Embedding : public Module {
 public:
  Embedding(std::size_t vocabulary, std::size_t width)
      : weight_({vocabulary, width}, Initial::normal(0.02)) {}
  Var forward(Tape& tape, const Indices& indices) { return gather(tape(weight_), indices); }
  void visit(Visitor& visitor) override { visitor("weight", weight_); }

 private:
  Parameter weight_;
};

/// A normalisation over the last axis. (.., D) -> (.., D)
class Norm : public Module {
 public:
  virtual Var forward(Tape& tape, const Var& x) = 0;
};

/// Mean 0 and variance 1 over the last axis, then gain and bias.
class LayerNorm : public Norm {
 public:
  explicit LayerNorm(std::size_t width);
  Var forward(Tape& tape, const Var& x) override;
  void visit(Visitor& visitor) override;

 private:
  Parameter gain_, bias_;
};

/// Mean square 1 over the last axis, then gain.
class RMSNorm : public Norm {
 public:
  explicit RMSNorm(std::size_t width);
  Var forward(Tape& tape, const Var& x) override;
  void visit(Visitor& visitor) override;

 private:
  Parameter gain_;
};

/// "layer" or "rms".
std::unique_ptr<Norm> make_norm(const std::string& kind, std::size_t width);

/// Zeroes elements with probability `rate` while the tape is training. (..) -> (..)
class Dropout : public Module {
 public:
  explicit Dropout(double rate);
  Var forward(Tape& tape, const Var& x) const;
  void visit(Visitor&) override {}

 private:
  real rate_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
