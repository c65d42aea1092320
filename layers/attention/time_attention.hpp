#pragma once
#include <bochner/layers/basic/linear.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// How times enter queries and keys. "attend": both see [x, Phi(t)], that is W Phi(t) is added.
/// "rotate": each pair (i, i + d/2) is turned by the phase w_i t, so that scores depend on times
/// through lags only, whatever is learned.
class TimeAttention : public Module {
 public:
  /// m of the spec is replaced by d / 2 for rotations.
  TimeAttention(const TimeEncodingSpec& spec, std::size_t heads, std::size_t dim);
  struct Pair {
    Var q, k;
  };
  /// (B, T, H, d) each, times (B, T) in units of the encoding -> (B, T, H, d) each
  Pair forward(Tape& tape, const Pair& x, const Times& times);
  void visit(Visitor& visitor) override;

 private:
  std::unique_ptr<TimeEncoding> time_;
  std::unique_ptr<Linear> query_, key_;  // for "attend"
};

}  // namespace bochner::inline BOCHNER_PRECISION
