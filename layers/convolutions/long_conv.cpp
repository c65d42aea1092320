#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/convolutions/convolution_mixer.hpp>
#include <bochner/layers/mixers/mixers.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Computes glu(W gelu(h * x) + b) with one long convolution per channel, independent of the data.
/// Fu et al., "Simple hardware-efficient long convolutions for sequence modeling", 2023.
class LongConvolutionMixer : public ConvolutionMixer {
 public:
  LongConvolutionMixer(const MixerSpec& spec, const FilterSection&)
      : ConvolutionMixer(spec),
        width_(spec.width),
        filter_(filter_of(spec, "explicit"), spec.causal),
        output_(spec.width) {}

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_regular(layout);
    return output_.forward(tape, convolve(x, filter_.rows(tape, x.dim(1)), 0, layout));
  }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    ConvolutionState& past = advance(state);
    if (past.streams.empty()) past.streams.push_back(stream_of(filter_, 0, width_, x.dim(0)));
    return output_.forward(tape, convolve_next(tape, x, past.streams[0]));
  }

  void visit(Visitor& visitor) override {
    visitor("filter", filter_);
    visitor("output", output_);
  }

 private:
  std::size_t width_;
  TwoSidedFilter filter_;
  GatedOutput output_;
};

}  // namespace

void add_long_conv(Mixers& all) {
  all.add("long_conv", make<LongConvolutionMixer, FilterSection>, {.features = false});
}

}  // namespace bochner::inline BOCHNER_PRECISION
