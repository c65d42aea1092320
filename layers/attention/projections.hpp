#pragma once
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// How a short convolution starts: as the token itself, or as a mixture of all taps, each uniform
/// on -1 / sqrt(K) .. 1 / sqrt(K) like the bias.
enum class ConvolutionStart { near_identity, mixing };

/// x plus a causal depthwise convolution of its last K tokens, for K = 0 x itself. Fu et al., "H3",
/// 2023; Poli et al., "Hyena", 2023. (B, T, D) -> (B, T, D)
class ShortConvolution : public Module {
 public:
  ShortConvolution(std::size_t taps, std::size_t width,
                   ConvolutionStart start = ConvolutionStart::near_identity);
  bool active() const { return taps_ > 0; }
  Var forward(Tape& tape, const Var& x);
  /// One token after the `recent` K tokens (B, K, D), () before the first, which move on by one;
  /// equals the batch output. (B, 1, D) -> (B, 1, D)
  Var step(Tape& tape, const Var& x, Tensor& recent);
  /// The one or the other: one token where there are `recent` ones.
  Var forward(Tape& tape, const Var& x, Tensor* recent) {
    return recent ? step(tape, x, *recent) : forward(tape, x);
  }
  void visit(Visitor& visitor) override;
  void initialized() override;

 private:
  std::size_t taps_;
  bool mixes_;
  Parameter weight_, bias_;  // (K, D), (D)
};

/// A linear map and a short convolution of its outputs, in the form that attention wants. (B, T, D)
/// -> shape
class HeadProjection : public Module {
 public:
  HeadProjection(std::size_t width, std::size_t taps);
  Linear& linear() { return linear_; }
  bool convolves() const { return convolution_.active(); }
  /// What is made of the outputs of linear(): one token after the `recent` ones if they are given,
  /// see ShortConvolution.
  Var convolved(Tape& tape, const Var& y, const Shape& shape, Tensor* recent);
  void visit(Visitor& visitor) override;

 private:
  Linear linear_;
  ShortConvolution convolution_;
};

/// Queries, keys and values by head, (B, T, H, d) each.
struct Heads {
  Var q, k, v;
};

/// Queries and keys on a sphere: scores q . k / sqrt(d) become s cos(q, k), s > 0 the learned
/// sharpness of the head. Softmax attention is then a Gaussian kernel of bandwidth 1 / sqrt(s) up
/// to a constant, and |q + k|^2, which the variance of exponential features grows with, is at most
/// 4 s. Henry et al., "Query-key normalization", 2020.
class UnitSphere : public Module {
 public:
  UnitSphere(std::size_t heads, double sharpness);
  /// (B, T, H, d) each; values as they are.
  Heads forward(Tape& tape, const Heads& x);
  void visit(Visitor& visitor) override;

 private:
  Parameter log_sharpness_;  // (H, 1)
};

/// How times enter queries and keys. "attend": both see [x, Phi(t)], that is W Phi(t) is added.
/// "rotate": each pair (i, i + d/2) is turned by the phase w_i t, so that scores depend on times
/// through lags only, whatever is learned.
class TimeAttention : public Module {
 public:
  /// m of the spec is replaced by d / 2 for rotations.
  TimeAttention(const TimeEncodingSpec& spec, std::size_t heads, std::size_t dim);
  /// (B, T, H, d) each, times (B, T) in units of the encoding -> (B, T, H, d) each
  Heads forward(Tape& tape, const Heads& x, const Times& times);
  void visit(Visitor& visitor) override;

 private:
  std::unique_ptr<TimeEncoding> time_;
  std::unique_ptr<Linear> query_, key_;  // for "attend"
};

/// What all attention shares: queries, keys and values by head, and the way back.
class Projections : public Module {
 public:
  explicit Projections(const MixerSpec& spec);
  /// Queries and keys are rotated if the mixer is rotary, and see the times if it has an encoding
  /// of time. (B, T, D) -> (B, T, H, d) each
  Heads split(Tape& tape, Normed& x, const Layout& layout);
  /// The next token of each sequence; their position is counted on. (B, 1, D) -> (B, 1, H, d) each
  Heads split(Tape& tape, Normed& x, MixerState& state);
  /// (B, T, H, d) -> (B, T, D)
  Var join(Tape& tape, const Var& y);
  /// The same, added to `residual`.
  Var join_add(Tape& tape, const Var& residual, const Var& y) {
    return output_.forward_add(tape, residual, y);
  }
  void visit(Visitor& visitor) override;

 private:
  Heads placed(Tape& tape, Normed& x, Tensor* recent, std::size_t first, const Times& times);
  std::size_t heads_;
  bool rotary_;
  HeadProjection query_, key_, value_;
  Linear output_;
  std::unique_ptr<UnitSphere> sphere_;
  std::unique_ptr<TimeAttention> time_;
};

/// A mixer that attends between projections.
class AttentionMixer : public Mixer {
 public:
  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    Normed rows(x);
    return projections_.join(tape, attend(tape, rows, layout));
  }
  Var forward_add(Tape& tape, const Var& residual, Normed& x, const Layout& layout) override {
    return projections_.join_add(tape, residual, attend(tape, x, layout));
  }

 protected:
  explicit AttentionMixer(const MixerSpec& spec) : projections_(spec) {}
  /// Means of values. (B, T, D) -> (B, T, H, d)
  virtual Var attend(Tape& tape, Normed& x, const Layout& layout) = 0;
  Projections projections_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
