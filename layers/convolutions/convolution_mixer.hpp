#pragma once
/// What mixers by long convolutions share.

#include <bochner/autodiff/compute/convolution_stream.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/convolutions/filter.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The Spec of a mixer's filters: `kind` in place of "auto", `copies` filters of each channel.
FilterSpec filter_of(const MixerSpec& spec, const char* kind, std::size_t copies = 1);

/// A linear map to `count` sequences at once, and a causal short convolution of them with a start
/// of its own.
class ManyProjections : public Module {
 public:
  ManyProjections(std::size_t width, std::size_t count, std::size_t taps,
                  ConvolutionInit start = ConvolutionInit::near_identity);
  /// One token after the `recent` ones if they are given, see ShortConvolution. (B, T, D) ->
  /// `count` times (B, T, D)
  std::vector<Var> split(Tape& tape, const Var& x, Tensor* recent = nullptr);
  void visit(Visitor& visitor) override;

 private:
  std::size_t count_;
  Linear linear_;
  ShortConvolution convolution_;
};

/// A long convolution by a filter, and what finds its next tokens.
Var convolve(const Var& x, const TwoSidedFilter::Rows& rows, std::size_t copy,
             const Layout& layout);
ConvolutionStream stream_of(TwoSidedFilter& filter, std::size_t copy, std::size_t width,
                            std::size_t sequences);
/// The next token of a ConvolutionStream or PrefixStream. (B, 1, D) -> (B, 1, D)
template <class Stream>
Var convolve_next(Tape& tape, const Var& x, Stream& stream) {
  require(x.size() == stream.width(), "convolution", "the tokens before had ", stream.width(),
          " channels of all sequences, not those of ", x.shape());
  Tensor y = uninitialized(x.shape());
  stream.next(x.data(), y.data());
  return tape.constant(std::move(y));
}

struct ConvolutionState : MixerState {
  std::vector<ConvolutionStream> streams;  ///< made at the first token
};

/// A mixer whose kernels are functions of the number of tokens between two, not of time.
class ConvolutionMixer : public Mixer {
 public:
  std::unique_ptr<MixerState> start() const override {
    return std::make_unique<ConvolutionState>();
  }

 protected:
  /// Throws where the spec asks for what only attention has.
  explicit ConvolutionMixer(const MixerSpec& spec);
  void require_regular(const Layout& layout) const;
  /// One more token, if the mixer can take it.
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
