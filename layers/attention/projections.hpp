#pragma once
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Initialization of a short convolution: near the identity, or like Conv1d, all taps and the bias
/// uniform on -1 / sqrt(K) .. 1 / sqrt(K).
enum class ConvolutionInit { near_identity, mixing };

/// Adds a causal depthwise convolution of the last K tokens to x; the identity for K = 0. Fu et
/// al., "H3", 2023; Poli et al., "Hyena", 2023. (B, T, D) -> (B, T, D)
class ShortConvolution : public Module {
 public:
  ShortConvolution(std::size_t taps, std::size_t width,
                   ConvolutionInit start = ConvolutionInit::near_identity);
  bool active() const { return taps_ > 0; }
  Var forward(Tape& tape, const Var& x);
  /// Processes one token and updates the K `recent` ones (B, K, D), () before the first; equals the
  /// batch output. (B, 1, D) -> (B, 1, D)
  Var step(Tape& tape, const Var& x, Tensor& recent);
  Var forward(Tape& tape, const Var& x, Tensor* recent) {
    return recent ? step(tape, x, *recent) : forward(tape, x);
  }
  void visit(Visitor& visitor) override {
    if (!active()) return;
    visitor("weight", weight_);
    visitor("bias", bias_);
  }
  void initialized() override;

 private:
  std::size_t taps_;
  bool mixing_;
  Parameter weight_, bias_;  // (K, D), (D)
};

/// Linear map followed by a short convolution, reshaped for attention. (B, T, D) -> shape
class HeadProjection : public Module {
 public:
  HeadProjection(std::size_t width, std::size_t taps);
  Linear& linear() { return linear_; }
  bool convolves() const { return convolution_.active(); }
  /// Applies the convolution to linear()'s outputs; `recent` as in ShortConvolution.
  Var convolve(Tape& tape, const Var& y, const Shape& shape, Tensor* recent) {
    if (!convolution_.active()) return y;
    return reshape(convolution_.forward(tape, y, recent), shape);
  }
  void visit(Visitor& visitor) override {
    linear_.visit(visitor);
    visitor("convolution", convolution_);
  }

 private:
  Linear linear_;
  ShortConvolution convolution_;
};

/// Queries, keys and values per head, (B, T, H, d) each.
struct Heads {
  Var q, k, v;
};

/// Normalizes queries and keys to a sphere: scores q . k / sqrt(d) become s cos(q, k) with a
/// learned sharpness s > 0 per head. Softmax attention is then a Gaussian kernel of bandwidth 1 /
/// sqrt(s) up to a constant, and |q + k|^2, which drives the variance of exponential features, is
/// at most 4 s. Henry et al., "Query-key normalization", 2020.
class UnitSphere : public Module {
 public:
  UnitSphere(std::size_t heads, double sharpness);
  /// Leaves values unchanged. (B, T, H, d) each
  Heads forward(Tape& tape, const Heads& x);
  void visit(Visitor& visitor) override { visitor("log_sharpness", log_sharpness_); }

 private:
  Parameter log_sharpness_;  // (H, 1)
};

/// Adds times to queries and keys. "attend": adds W Phi(t), as if both saw [x, Phi(t)]. "rotate":
/// rotates pairs (i, i + d/2) by the phase w_i t, so that scores depend on lags only.
class TimeAttention : public Module {
 public:
  /// Replaces m of the spec by d / 2 for rotations.
  TimeAttention(const TimeEncodingSpec& spec, std::size_t heads, std::size_t dim);
  /// x (B, T, H, d) each, times (B, T) in units of the encoding -> (B, T, H, d) each
  Heads forward(Tape& tape, const Heads& x, const Times& times);
  void visit(Visitor& visitor) override {
    visitor("time", *time_);
    if (!query_) return;
    visitor("time_query", *query_);
    visitor("time_key", *key_);
  }

 private:
  std::unique_ptr<TimeEncoding> time_;
  std::unique_ptr<Linear> query_, key_;  // for "attend"
};

/// Turns the values v of later blocks into a v + b v1 with learned a and b, 1/2 at first; v1 are
/// those of the first block. Zhou et al., "Value residual learning", 2024.
class ValueResidual : public Module {
 public:
  explicit ValueResidual(ValueRole role);
  /// Returns the values to attend to; stores those of the first block. (B, T, H, d)
  Var forward(Tape& tape, const Var& v, FirstValues* first);
  void visit(Visitor& visitor) override {
    if (role_ == ValueRole::later) visitor("value_residual", scales_);
  }

 private:
  ValueRole role_;
  Parameter scales_;  // (2): a, b
};

/// Projections of attention mixers: to queries, keys and values per head, and to the output.
class Projections : public Module {
 public:
  explicit Projections(const MixerSpec& spec);
  /// Projects to heads, with positions and times of the spec. (B, T, D) -> (B, T, H, d) each
  Heads split(Tape& tape, Normed& x, const Layout& layout) {
    return with_positions(tape, x, nullptr, 0, layout.times, layout.first_values.get());
  }
  /// Projects the next token and advances the position. (B, 1, D) -> (B, 1, H, d) each
  Heads split(Tape& tape, Normed& x, MixerState& state) {
    state.recent.resize(3);
    state.time += state.gap;
    const Times now(std::vector<std::size_t>{x.dim(0), 1}, state.time);
    return with_positions(tape, x, state.recent.data(), state.position++, now,
                          state.first_values.get());
  }
  /// Projects heads to the output. (B, T, H, d) -> (B, T, D)
  Var join(Tape& tape, const Var& y) {
    return output_.forward(tape, y, {y.dim(0), y.dim(1), y.dim(2) * y.dim(3)});
  }
  Var join_add(Tape& tape, const Var& residual, const Var& y) {
    return output_.forward_add(tape, residual, y);
  }
  void visit(Visitor& visitor) override;

 private:
  Heads with_positions(Tape& tape, Normed& x, Tensor* recent, std::size_t first, const Times& times,
                       FirstValues* first_values);
  std::size_t heads_;
  bool rotary_;
  HeadProjection query_, key_, value_;
  ValueResidual value_residual_;
  Linear output_;
  std::unique_ptr<UnitSphere> sphere_;
  std::unique_ptr<TimeAttention> time_;
};

/// Mixer that attends between projections: a derived class changes only how values are averaged, by
/// attend(), and by step() with projections_.split() and join() for streaming.
class AttentionMixer : public Mixer {
 public:
  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    Normed rows(x);
    return projections_.join(tape, attend(tape, rows, layout));
  }
  Var forward_add(Tape& tape, const Var& residual, Normed& x, const Layout& layout) override {
    return projections_.join_add(tape, residual, attend(tape, x, layout));
  }
  /// Visits the projections; overrides with parameters of their own call this.
  void visit(Visitor& visitor) override { projections_.visit(visitor); }

 protected:
  explicit AttentionMixer(const MixerSpec& spec) : projections_(spec) {}
  /// Returns means of values. (B, T, D) -> (B, T, H, d)
  virtual Var attend(Tape& tape, Normed& x, const Layout& layout) = 0;
  Projections projections_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
