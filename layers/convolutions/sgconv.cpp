#include <bit>
#include <bochner/autodiff/compute/prefix_sums.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/convolutions/convolution_mixer.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <cmath>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct SgConvState : MixerState {
  std::optional<PrefixStream> stream;  ///< created at the first token
};

/// Kernels that are constant on blocks of 1, 1, 2, 4, .. lags, the last ending with the kernel: a
/// learned value times 2^-block each, so that weights fall like 1 / lag, divided by the initial
/// norm. The output is glu(W gelu(.) + b). Li et al., "What makes convolutional models great on
/// long sequence modeling?" (SGConv), 2023, with kernel_dim 1; prefix sums replace transforms.
class SgConvMixer : public ConvolutionMixer, public ImpulseResponse {
 public:
  explicit SgConvMixer(const MixerSpec& spec)
      : ConvolutionMixer(spec),
        edges_(dyadic_edges(filter_of(spec, "").lags(), !spec.causal)),
        blocks_((edges_.size() - 1) / (spec.causal ? 1 : 2)),
        weight_({edges_.size() - 1, spec.width}, Initial::normal(1)),
        skip_({1, spec.width}, Initial::normal(1)),
        norm_(filled({spec.causal ? std::size_t(1) : 2, spec.width}, real(1))),
        output_(spec.width) {}

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_regular(layout);
    return output_.forward(tape, prefix_convolution(x, kernel(tape), edges_, layout.lengths));
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<SgConvState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    count_token(state);
    auto& past = static_cast<SgConvState&>(state);
    if (!past.stream) {
      const Tensor blocks = tiled(x.dim(0), kernel(tape)).value();
      past.stream.emplace(edges_, x.dim(0) * x.dim(2), blocks.data());
    }
    return output_.forward(tape, convolve_next(tape, x, *past.stream));
  }

  void visit(Visitor& visitor) override {
    visitor("filter.weight", weight_);
    visitor("filter.skip", skip_);
    visitor("filter.norm", norm_);
    visitor("output", output_);
  }

  Tensor response(std::size_t count) override {
    Tape tape({.recording = false});
    const Tensor blocks = kernel(tape).value();
    const std::size_t D = blocks.shape()[1], lag_0 = blocks.shape()[0] - blocks_;
    const std::size_t lags = std::min(count, std::size_t(edges_.back()));
    Tensor rows = uninitialized({lags, D});
    for (std::size_t lag = 0; lag < lags; ++lag)
      std::copy_n(blocks.data() + (lag_0 + std::size_t(std::bit_width(lag))) * D, D,
                  rows.data() + lag * D);
    return rows;
  }

  /// Stores the initial norm of each direction's kernel.
  void initialized() override {
    norm_.fill(0);
    for (std::size_t i = 0; i < weight_.value().size(); ++i) {
      const std::size_t s = i / skip_.value().size(), c = i % skip_.value().size();
      const double weight = scale(s) * double(weight_.value().data()[i]);
      norm_(direction(s), c) += real(double(edges_[s + 1] - edges_[s]) * weight * weight);
    }
    for (real& x : norm_) x = std::sqrt(x);
  }

 private:
  /// Returns 1 for blocks of the future, which come first, else 0.
  std::size_t direction(std::size_t s) const {
    return norm_.shape()[0] == 2 && s < blocks_ ? 1 : 0;
  }
  double scale(std::size_t s) const {
    const std::size_t block = norm_.shape()[0] == 1 ? s
                              : s < blocks_         ? blocks_ - 1 - s
                                                    : s - blocks_;
    return std::exp2(double(blocks_ - 1) - double(block));
  }

  /// Returns the values of all blocks, with the skip weight in that of lag 0. -> (S, D)
  Var kernel(Tape& tape) {
    Tensor scales = zeros(weight_.shape());
    const std::size_t rows = scales.shape()[0];
    for (std::size_t s = 0; s < rows; ++s)
      for (std::size_t c = 0; c < scales.shape()[1]; ++c)
        scales(s, c) = real(scale(s)) / norm_(direction(s), c);
    const std::size_t lag_0 = rows - blocks_;
    return tape(weight_) * tape.constant(std::move(scales)) +
           pad(tape(skip_), 0, lag_0, blocks_ - 1);
  }

  std::vector<std::int64_t> edges_;
  std::size_t blocks_;       // per direction
  Parameter weight_, skip_;  // (S, D), (1, D)
  Tensor norm_;              // (directions, D)
  GatedOutput output_;
};

/// Uses the dyadic filter if a piece has more than one value.
std::unique_ptr<Mixer> make_sgconv(const MixerSpec& spec) {
  if (spec.own.of<FilterSection>().filter.piece == 1) return std::make_unique<SgConvMixer>(spec);
  MixerSpec interpolated = spec;
  interpolated.own.of<FilterSection>().filter.kind = "dyadic";
  return mixers().make("long_conv", interpolated);
}

}  // namespace

void add_sgconv(Mixers& all) {
  all.add("sgconv", make_sgconv, {.features = false});
  all.share<FilterSection>("sgconv");
}

}  // namespace bochner::inline BOCHNER_PRECISION
