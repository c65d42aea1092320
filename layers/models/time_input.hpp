#pragma once
/// Times of tokens in models: the encoding below the blocks, and the times that blocks see.

#include <bochner/base/time_array.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns times since the previous token; 0 for the first. (B, T) -> (B, T)
Tensor gaps_of(const Times& times);
/// Returns gaps and times for the blocks. times (B, T) in units of the encoding
Layout layout_of(const Times& times, const std::vector<std::size_t>& lengths = {});
/// Adds the time encoding to the attention of a stack, if that is its use.
StackSpec with_times(StackSpec stack, const TimeEncodingSpec& time);
/// Returns a causal stack that sees times; errors name `model`.
StackSpec causal_stack(const StackSpec& stack, const TimeEncodingSpec& time, const char* model);

/// Time encoding below the blocks, if its use is "concatenate" or "add"; else the identity.
class TimeInput : public Module {
 public:
  TimeInput(const TimeEncodingSpec& spec, std::size_t width);
  /// Returns W [x, Phi(t)] or x + W Phi(t); x if the encoding is not below the blocks. x (B, T, D),
  /// times (B, T) in units of the encoding -> (B, T, D)
  Var forward(Tape& tape, const Var& x, const Times& times);
  /// Visits the parts without a name prefix.
  void visit(Visitor& visitor) override {
    if (!time_) return;
    visitor("time", *time_);
    visitor("mix", *mix_);
  }

 private:
  bool adds_;
  std::unique_ptr<TimeEncoding> time_;
  std::unique_ptr<Linear> mix_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
