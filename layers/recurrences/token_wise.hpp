#pragma once
/// What mixers without attention share.

#include <bochner/layers/attention/mixer.hpp>
#include <bochner/layers/attention/mixer_spec.hpp>
#include <bochner/layers/attention/projections.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Throws where the spec asks for what only attention has.
void refuse_attention(const MixerSpec& spec);

/// The short convolution that the spec asks for, or nothing.
class OptionalConvolution : public Module {
 public:
  explicit OptionalConvolution(const MixerSpec& spec);
  Var forward(Tape& tape, const Var& x);
  /// Of the next token, see ShortConvolution::step().
  Var step(Tape& tape, const Var& x, MixerState& state);
  void visit(Visitor& visitor) override;

 private:
  std::unique_ptr<ShortConvolution> convolution_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
