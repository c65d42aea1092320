#pragma once
/// Times and places of tokens in models: encodings below the blocks, and what blocks see.

#include <bochner/base/time_array.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/encodings/space_time.hpp>
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

/// Returns the channels left for content in tokens of D channels: all unless the encoding is
/// concatenated. Throws if a concatenated encoding is also to be added in every block.
std::size_t content_width(const SpaceTimeEncoding* encoding, std::size_t D, bool every_block);

/// Tokens for the first block, and an encoding to add before each block.
struct PlacedTokens {
  Var x, each;
};
/// Adds an encoding to tokens, concatenates it, or returns it for every block. x (B, T, D) or (B,
/// T, D - E), code (T, E) or (B, T, E)
PlacedTokens add_encoding(const SpaceTimeEncoding& encoding, bool every_block, const Var& x,
                          const Var& code);

}  // namespace bochner::inline BOCHNER_PRECISION
