#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/models/token_inputs.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns whether the encoding is below the blocks, rather than in attention.
bool is_below(const TimeEncodingSpec& spec) {
  return spec.use == "concatenate" || spec.use == "add";
}

}  // namespace

Tensor gaps_of(const Times& times) {
  const std::size_t T = times.shape()[1];
  Tensor gaps = zeros({times.shape()[0], T});
  for (std::size_t i = 0; i < gaps.size(); ++i)
    if (i % T > 0) gaps.data()[i] = real(times.data()[i] - times.data()[i - 1]);
  return gaps;
}

Layout layout_of(const Times& times, const std::vector<std::size_t>& lengths) {
  return {lengths, gaps_of(times), times};
}

StackSpec with_times(StackSpec stack, const TimeEncodingSpec& time) {
  if (!is_below(time)) stack.block.mixer.time = time;
  return stack;
}

StackSpec causal_stack(const StackSpec& stack, const TimeEncodingSpec& time, const char* model) {
  require_causal_norm(stack, model);
  StackSpec causal = with_times(stack, time);
  causal.block.mixer.causal = true;
  return causal;
}

TimeInput::TimeInput(const TimeEncodingSpec& spec, std::size_t width) : adds_(spec.use == "add") {
  if (is_below(spec)) time_ = make_time_encoding(spec);
  if (!time_) return;
  const std::size_t F = time_->features();
  mix_ = std::make_unique<Linear>(adds_ ? F : width + F, width);
}

Var TimeInput::forward(Tape& tape, const Var& x, const Times& times) {
  if (!time_) return x;
  const Var phi = time_->forward(tape, times);
  return adds_ ? x + mix_->forward(tape, phi) : mix_->forward(tape, concat({x, phi}, -1));
}

std::size_t content_width(const SpaceTimeEncoding* encoding, std::size_t D, bool every_block) {
  if (!encoding || !encoding->is_concatenated()) return D;
  require(!every_block, "placed_tokens",
          "a concatenated encoding is in every block already; set every_block = false");
  return D - encoding->width();
}

PlacedTokens add_encoding(const SpaceTimeEncoding& encoding, bool every_block, const Var& x,
                          const Var& code) {
  if (encoding.is_concatenated())
    return {concat({x, broadcast_to(code, {x.dim(0), x.dim(1), encoding.width()})}, 2), {}};
  if (every_block) return {x, code};
  return {x + code, {}};
}

}  // namespace bochner::inline BOCHNER_PRECISION
