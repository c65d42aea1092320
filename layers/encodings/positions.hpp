#pragma once
/// Absolute positions, added to the embedding. Rotary positions are part of the mixers.

#include <bochner/layers/module.hpp>
#include <limits>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// Adds an encoding of the positions first, first + 1, ... to x. (B, T, D) -> (B, T, D)
class PositionEncoding : public Module {
 public:
  virtual Var forward(Tape& tape, const Var& x, std::size_t first) = 0;
  /// Returns the number of positions that can be encoded.
  virtual std::size_t limit() const { return std::numeric_limits<std::size_t>::max(); }
};

/// Learned position embedding, initialized normal with deviation 0.02.
class LearnedPositions : public PositionEncoding {
 public:
  LearnedPositions(std::size_t length, std::size_t width);
  Var forward(Tape& tape, const Var& x, std::size_t first) override;
  std::size_t limit() const override { return weight_.shape()[0]; }
  void visit(Visitor& visitor) override { visitor("weight", weight_); }

 private:
  Parameter weight_;
};

/// Sin and cos of position * 10000^(-2i/D), alternating. Vaswani et al., 2017.
class SinusoidalPositions : public PositionEncoding {
 public:
  Var forward(Tape& tape, const Var& x, std::size_t first) override;
  void visit(Visitor&) override {}
};

/// Makes "learned" or "sinusoidal" positions; null for "rotary" and "none", which add nothing.
std::unique_ptr<PositionEncoding> make_positions(const std::string& kind, std::size_t length,
                                                 std::size_t width);

}  // namespace bochner::inline BOCHNER_PRECISION
