#pragma once
/// Helpers shared by mixers over long convolutions.

#include <bochner/autodiff/compute/convolution_stream.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the spec of a mixer's filters: `kind` replaces "auto"; `copies` filters per channel.
FilterSpec filter_of(const MixerSpec& spec, const char* kind, std::size_t copies = 1);

/// Linear map to `count` sequences at once, followed by a causal short convolution.
class ManyProjections : public Module {
 public:
  ManyProjections(std::size_t width, std::size_t count, std::size_t taps,
                  ConvolutionInit start = ConvolutionInit::near_identity);
  /// Projects all tokens, or one after `recent` ones. (B, T, D) -> `count` times (B, T, D)
  std::vector<Var> split(Tape& tape, const Var& x, Tensor* recent = nullptr);
  void visit(Visitor& visitor) override {
    linear_.visit(visitor);
    visitor("convolution", convolution_);
  }

 private:
  std::size_t count_;
  Linear linear_;
  ShortConvolution convolution_;
};

Var convolve(const Var& x, const TwoSidedFilter::Rows& rows, std::size_t copy,
             const Layout& layout);
ConvolutionStream stream_of(TwoSidedFilter& filter, std::size_t copy, std::size_t width,
                            std::size_t sequences);
/// Convolves the next token by a ConvolutionStream or PrefixStream. (B, 1, D) -> (B, 1, D)
template <class Stream>
Var convolve_next(Tape& tape, const Var& x, Stream& stream) {
  require(x.size() == stream.width(), "convolution", "expected ", stream.width(),
          " channels over all sequences, got ", x.shape());
  Tensor y = uninitialized(x.shape());
  stream.next(x.data(), y.data());
  return tape.constant(std::move(y));
}

struct ConvolutionState : MixerState {
  std::vector<ConvolutionStream> streams;  ///< created at the first token
};

/// Mixer whose kernels depend on the number of tokens between two, not on time.
class ConvolutionMixer : public Mixer {
 public:
  std::unique_ptr<MixerState> start() const override {
    return std::make_unique<ConvolutionState>();
  }

 protected:
  /// Throws if the spec sets a key that only attention has.
  explicit ConvolutionMixer(const MixerSpec& spec);
  void require_regular(const Layout& layout) const;
  /// Counts a token. Throws if the mixer is not causal or the token is at another distance.
  void count_token(MixerState& state) const;
  ConvolutionState& advance(MixerState& state) const {
    count_token(state);
    return static_cast<ConvolutionState&>(state);
  }

 private:
  std::string name_;
  bool causal_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
