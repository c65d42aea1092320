#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/convolutions/convolution_mixer.hpp>
#include <bochner/layers/mixers/mixers.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct HyenaSpec {
  std::size_t order = 2, convolution = 3;
  std::string form = "paper";
};
void describe(Keys& keys, HyenaSpec& spec) {
  keys("hyena.order", spec.order, between(2, 16), "gates of a token (N), with N + 1 projections");
  keys("hyena.convolution", spec.convolution, between(0, 64),
       "taps of a learned causal convolution on all projections; 0 for none");
  keys("hyena.form", spec.form, one_of({"paper", "code"}),
       "paper: N times a filter, then a gate; code: as published, N - 1 filters between N gates");
}

/// Long convolutions between gates: z <- x_n o (h_n * z) for n = 1 .. N, from z = v. Poli et al.,
/// "Hyena hierarchy", 2023, definition 3.1. The published code gates first, v <- h_n * (x_n o v),
/// has one filter less and ends with a gate. Gates start as mixtures of recent tokens, as
/// published: induction needs the previous tokens in the gate.
class HyenaMixer : public ConvolutionMixer {
 public:
  HyenaMixer(const MixerSpec& spec, const HyenaSpec& own)
      : ConvolutionMixer(spec),
        gates_last_(own.form == "paper"),
        width_(spec.width),
        filters_(gates_last_ ? own.order : own.order - 1),
        projections_(spec.width, own.order + 1, own.convolution, ConvolutionInit::mixing),
        filter_(filter_of(spec, "implicit", filters_), spec.causal),
        output_(spec.width, spec.width) {}

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_regular(layout);
    const TwoSidedFilter::Rows rows = filter_.rows(tape, x.dim(1));
    const auto by_filter = [&](const Var& z, std::size_t n) {
      return convolve(z, rows, n, layout);
    };
    return output_.forward(tape, mix(projections_.split(tape, x), by_filter));
  }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    ConvolutionState& past = advance(state);
    past.recent.resize(1);
    for (std::size_t n = past.streams.size(); n < filters_; ++n)
      past.streams.push_back(stream_of(filter_, n, width_, x.dim(0)));
    const auto by_filter = [&](const Var& z, std::size_t n) {
      return convolve_next(tape, z, past.streams[n]);
    };
    const std::vector<Var> parts = projections_.split(tape, x, &past.recent[0]);
    return output_.forward(tape, mix(parts, by_filter));
  }

  void visit(Visitor& visitor) override {
    visitor("projections", projections_);
    visitor("filter", filter_);
    visitor("output", output_);
  }

 private:
  /// Combines `parts` v and the gates x_1 .. x_N.
  template <class ByFilter>
  Var mix(const std::vector<Var>& parts, const ByFilter& by_filter) const {
    Var z = parts[0];
    if (!gates_last_) z = z * parts.back();
    for (std::size_t n = 0; n < filters_; ++n)
      z = by_filter(z, n) * parts[gates_last_ ? n + 1 : filters_ - n];
    return z;
  }

  bool gates_last_;
  std::size_t width_, filters_;
  ManyProjections projections_;
  TwoSidedFilter filter_;
  Linear output_;
};

}  // namespace

void add_hyena(Mixers& all) {
  all.add("hyena", make<HyenaMixer, HyenaSpec>, {.features = false});
  all.share<FilterSection>("hyena");
}

}  // namespace bochner::inline BOCHNER_PRECISION
