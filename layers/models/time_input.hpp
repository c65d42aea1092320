#pragma once
/// How the times of tokens enter a model: below its blocks, and what the blocks see of them.

#include <bochner/base/time_array.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Times since the token before; 0 for the first. (B, T) -> (B, T)
Tensor gaps_of(const Times& times);
/// Gaps and times of tokens, for the blocks. times (B, T) in units of the encoding
Layout layout_of(const Times& times, const std::vector<std::size_t>& lengths = {});
/// The same stack, whose attention sees times if that is the use of the encoding.
StackSpec seeing_times(StackSpec stack, const TimeEncodingSpec& time);
/// That of a model that predicts what comes, whose errors it names.
StackSpec causal_stack(const StackSpec& stack, const TimeEncodingSpec& time, const char* model);

/// The encoding of times below the blocks, if its use is "concatenate" or "add"; nothing otherwise.
class TimeInput : public Module {
 public:
  TimeInput(const TimeEncodingSpec& spec, std::size_t width);
  /// W [x, Phi(t)] or x + W Phi(t), x itself where there is no encoding here. x (B, T, D), times
  /// (B, T) in units of the encoding -> (B, T, D)
  Var forward(Tape& tape, const Var& x, const Times& times);
  /// Adds no name of its own.
  void visit(Visitor& visitor) override;

 private:
  bool adds_;
  std::unique_ptr<TimeEncoding> time_;
  std::unique_ptr<Linear> mix_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
