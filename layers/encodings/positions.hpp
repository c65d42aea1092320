#pragma once
/// Absolute positions that are added to the embedding. Rotary positions live in the mixers.

#include <bochner/layers/module.hpp>
#include <limits>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// Adds an encoding of the positions first, first + 1, ... to x. (B, T, D) -> (B, T, D)
class PositionEncoding : public Module {
 public:
  virtual Var forward(Tape& tape, const Var& x, std::size_t first) = 0;
  /// Positions that can be encoded: 0 .. limit() - 1.
  virtual std::size_t limit() const { return std::numeric_limits<std::size_t>::max(); }
};

/// A trained row per position, started normally with deviation 0.02.
class LearnedPositions : public PositionEncoding {
 public:
  LearnedPositions(std::size_t length, std::size_t width);
  Var forward(Tape& tape, const Var& x, std::size_t first) override;
  std::size_t limit() const override;
  void visit(Visitor& visitor) override;

 private:
  Parameter weight_;
};

/// sin and cos of position * 10000^(-2i/D) in alternation; Vaswani et al., 2017.
class SinusoidalPositions : public PositionEncoding {
 public:
  Var forward(Tape& tape, const Var& x, std::size_t first) override;
  void visit(Visitor&) override {}
};

/// "learned" or "sinusoidal"; null for "rotary" and "none", which add nothing.
std::unique_ptr<PositionEncoding> make_positions(const std::string& kind, std::size_t length,
                                                 std::size_t width);

}  // namespace bochner::inline BOCHNER_PRECISION
