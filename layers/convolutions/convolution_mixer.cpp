#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/convolutions/convolution_mixer.hpp>
#include <bochner/layers/mixers/mixers.hpp>

namespace bochner::inline BOCHNER_PRECISION {

FilterSpec filter_of(const MixerSpec& spec, const char* kind, std::size_t copies) {
  FilterSpec filter = spec.own.of<FilterSection>().filter;
  if (filter.kind == "auto") filter.kind = kind;
  filter.width = spec.width, filter.copies = copies;
  filter.training = spec.training_length;
  filter.density.seed = spec.features.density.seed;
  return filter;
}

ConvolutionMixer::ConvolutionMixer(const MixerSpec& spec) : name_(spec.kind), causal_(spec.causal) {
  require_traits(spec);
}

ManyProjections::ManyProjections(std::size_t width, std::size_t count, std::size_t taps,
                                 ConvolutionInit start)
    : count_(count), linear_(width, count * width), convolution_(taps, count * width, start) {}

std::vector<Var> ManyProjections::split(Tape& tape, const Var& x, Tensor* recent) {
  const Var all = convolution_.forward(tape, linear_.forward(tape, x), recent);
  std::vector<Var> parts;
  for (std::size_t i = 0; i < count_; ++i)
    parts.push_back(slice(all, -1, i * x.dim(2), (i + 1) * x.dim(2)));
  return parts;
}

Var convolve(const Var& x, const TwoSidedFilter::Rows& rows, std::size_t copy,
             const Layout& layout) {
  const std::size_t D = x.dim(2);
  const Var kernel =
      rows.kernel.dim(1) == D ? rows.kernel : slice(rows.kernel, 1, copy * D, (copy + 1) * D);
  return long_convolution(x, kernel, {.future = rows.future, .lengths = layout.lengths});
}

ConvolutionStream stream_of(TwoSidedFilter& filter, std::size_t copy, std::size_t width,
                            std::size_t sequences) {
  const auto kernel = [&filter, copy, width](std::size_t lags) {
    return filter.past(lags, copy * width, width);
  };
  return {width, filter.limit(), kernel, sequences};
}

void ConvolutionMixer::require_regular(const Layout& layout) const {
  require_equal_distances(layout.regular(), name_);
}

void ConvolutionMixer::count_token(MixerState& state) const {
  require_causal_step(causal_, name_);
  require_equal_distances(state.gap == 1, name_);
  state.time += state.gap;
  ++state.position;
}

}  // namespace bochner::inline BOCHNER_PRECISION
