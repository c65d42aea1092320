#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/convolutions/convolution_mixer.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct H3Spec {
  std::size_t shift = 64, convolution = 0;
  std::string shifted = "key";
};
struct H3Section {
  H3Spec h3;
};
void describe(Keys& keys, H3Spec& spec) {
  keys("shift", spec.shift, between(1, 4096), "tokens that the shift state space remembers");
  keys("shifted", spec.shifted, one_of({"key", "value"}),
       "what it shifts: keys, as published, or values, as in the matrix form of Hyena's paper");
  keys("convolution", spec.convolution, between(0, 64),
       "tokens of a learned causal convolution on queries, keys and values, 0 for none");
}
void describe(Keys& keys, H3Section& section) { keys.section("h3", section.h3); }

/// The shift state space as its kernel, numbers one by one that start like those of a convolution:
/// Kaiming's uniform distribution has this deviation.
FilterSpec shift_of(const MixerSpec& spec, std::size_t taps) {
  FilterSpec filter;
  filter.kind = "explicit";
  filter.width = spec.width, filter.length = taps;
  filter.deviation = 1 / std::sqrt(3 * double(taps)), filter.squash = 0;
  return filter;
}

/// y = q o S_diag((S_shift k) o v), both state spaces with a skip: a matrix D_q S_diag D_k' that
/// the shifted keys k' make of the two others. Fu et al., "Hungry hungry hippos", 2023, with heads
/// of one channel.
class H3Mixer : public ConvolutionMixer {
 public:
  H3Mixer(const MixerSpec& spec, const H3Section& own)
      : ConvolutionMixer(spec),
        shifts_key_(own.h3.shifted == "key"),
        width_(spec.width),
        projections_(spec.width, 3, own.h3.convolution),
        shift_(shift_of(spec, own.h3.shift), spec.causal),
        diagonal_(filter_of(spec, "exponential"), spec.causal),
        output_(spec.width, spec.width) {
    require(shifts_key_ || own.h3.shifted == "value", "h3", "shifted = \"", own.h3.shifted,
            "\" must be \"key\" or \"value\"");
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_regular(layout);
    const std::size_t T = x.dim(1);
    const auto shift = [&](const Var& z) { return convolve(z, shift_.rows(tape, T), 0, layout); };
    const auto diagonal = [&](const Var& z) {
      return convolve(z, diagonal_.rows(tape, T), 0, layout);
    };
    return output_.forward(tape, mixed(projections_.split(tape, x), shift, diagonal));
  }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    ConvolutionState& past = advance(state);
    past.recent.resize(1);
    if (past.streams.empty()) {
      past.streams.push_back(stream_of(shift_, 0, width_));
      past.streams.push_back(stream_of(diagonal_, 0, width_));
    }
    const auto by_stream = [&](std::size_t i) {
      return [&tape, &past, i](const Var& z) { return convolve_next(tape, z, past.streams[i]); };
    };
    const std::vector<Var> parts = projections_.split(tape, x, &past.recent[0]);
    return output_.forward(tape, mixed(parts, by_stream(0), by_stream(1)));
  }

  void visit(Visitor& visitor) override {
    visitor("projections", projections_);
    visitor("shift", shift_);
    visitor("filter", diagonal_);
    visitor("output", output_);
  }

 private:
  /// `parts` are q, k and v.
  template <class Shift, class Diagonal>
  Var mixed(const std::vector<Var>& parts, const Shift& shift, const Diagonal& diagonal) const {
    const Var &q = parts[0], &k = parts[1], &v = parts[2];
    return q * diagonal(shifts_key_ ? shift(k) * v : k * shift(v));
  }

  bool shifts_key_;
  std::size_t width_;
  ManyProjections projections_;
  TwoSidedFilter shift_, diagonal_;
  Linear output_;
};

}  // namespace

void add_h3(Mixers& all) { all.add("h3", make<H3Mixer, H3Section>); }

}  // namespace bochner::inline BOCHNER_PRECISION
