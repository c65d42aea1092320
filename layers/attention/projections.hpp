#pragma once
#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/attention/time_attention.hpp>
#include <bochner/layers/basic/linear.hpp>
#include <bochner/layers/basic/short_convolution.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// A linear map and, unless `taps` is 0, a short convolution of its outputs, in the form that
/// attention wants. (B, T, D) -> shape
class HeadProjection : public Module {
 public:
  HeadProjection(std::size_t width, std::size_t taps);
  Var forward(Tape& tape, const Var& x, const Shape& shape);
  /// One token; `recent` may be empty before the first. (1, 1, D) -> shape
  Var step(Tape& tape, const Var& x, const Shape& shape, Tensor& recent);
  void visit(Visitor& visitor) override;

 private:
  Linear linear_;
  std::unique_ptr<ShortConvolution> convolution_;
};

/// What all attention shares: queries, keys and values by head, and the way back.
class Projections : public Module {
 public:
  explicit Projections(const MixerSpec& spec);
  struct Heads {
    Var q, k, v;  ///< (B, T, H, d)
  };
  /// Queries and keys are rotated if the mixer is rotary, and see the times if it has an encoding
  /// of time. (B, T, D) -> (B, T, H, d) each
  Heads split(Tape& tape, const Var& x, const Layout& layout);
  /// The next token of one sequence, whose position is counted on. (1, 1, D) -> (1, 1, H, d) each
  Heads split(Tape& tape, const Var& x, MixerState& state);
  /// (B, T, H, d) -> (B, T, D)
  Var join(Tape& tape, const Var& y);
  void visit(Visitor& visitor) override;

 private:
  Heads placed(Tape& tape, const Heads& heads, std::size_t first, const Times& times);
  std::size_t heads_;
  bool rotary_;
  HeadProjection query_, key_, value_;
  Linear output_;
  std::unique_ptr<TimeAttention> time_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
