#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/convolutions/convolution_mixer.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct H3Spec {
  std::size_t shift = 64, convolution = 0, channels = 1;
  std::string shifted = "key";
};
void describe(Keys& keys, H3Spec& spec) {
  keys("h3.shift", spec.shift, between(1, 4096), "tokens that the shift state space remembers");
  keys("h3.shifted", spec.shifted, one_of({"key", "value"}),
       "what it shifts: keys, as published, or values, as in the matrix form of the Hyena paper");
  keys("h3.channels", spec.channels, between(1, 256),
       "channels of a head, whose state spaces remember all products of a key and a value; must "
       "divide model.width");
  keys("h3.convolution", spec.convolution, between(0, 64),
       "taps of a learned causal convolution on queries, keys and values; 0 for none");
}

/// Returns the shift state space as an explicit kernel, with the deviation of Kaiming's uniform
/// initialization.
FilterSpec shift_spec(const MixerSpec& spec, std::size_t taps) {
  FilterSpec filter;
  filter.kind = "explicit";
  filter.width = spec.width, filter.length = taps;
  filter.deviation = 1 / std::sqrt(3 * double(taps)), filter.squash = 0;
  return filter;
}

/// Returns the spec of the diagonal state space, one filter per head.
FilterSpec diagonal_spec(const MixerSpec& spec, std::size_t channels) {
  require(spec.width % channels == 0, "h3", "channels = ", channels, " must divide the width ",
          spec.width);
  FilterSpec filter = filter_of(spec, "exponential");
  filter.width = spec.width / channels;
  return filter;
}

/// Computes y = q^T S_diag(k' v^T) per head with k' = S_shift k. Both state spaces have a skip;
/// S_diag is shared by all products of a head. Heads of one channel give q o S_diag(k' o v), the
/// matrix D_q S_diag D_k'. Fu et al., "Hungry hungry hippos", 2023.
class H3Mixer : public ConvolutionMixer {
 public:
  H3Mixer(const MixerSpec& spec, const H3Spec& own)
      : ConvolutionMixer(spec),
        shifts_key_(own.shifted == "key"),
        width_(spec.width),
        channels_(own.channels),
        projections_(spec.width, 3, own.convolution),
        shift_(shift_spec(spec, own.shift), spec.causal),
        diagonal_(diagonal_spec(spec, channels_), spec.causal),
        output_(spec.width, spec.width) {
    require(shifts_key_ || own.shifted == "value", "h3", "shifted = \"", own.shifted,
            "\" must be \"key\" or \"value\"");
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_regular(layout);
    const std::size_t T = x.dim(1);
    const auto shift = [&](const Var& z) { return convolve(z, shift_.rows(tape, T), 0, layout); };
    const auto diagonal = [&](const Var& z) {
      const auto [kernel, future] = diagonal_.rows(tape, T);
      return convolve(z, {per_product(kernel), future}, 0, layout);
    };
    return output_.forward(tape, mix(projections_.split(tape, x), shift, diagonal));
  }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    ConvolutionState& past = advance(state);
    past.recent.resize(1);
    if (past.streams.empty()) {
      past.streams.push_back(stream_of(shift_, 0, width_, x.dim(0)));
      const auto kernel = [this](std::size_t lags) {
        return per_product(diagonal_.past(lags, 0, width_ / channels_)).value();
      };
      past.streams.emplace_back(width_ * channels_, diagonal_.limit(), kernel, x.dim(0));
    }
    const auto by_stream = [&](std::size_t i) {
      return [&tape, &past, i](const Var& z) { return convolve_next(tape, z, past.streams[i]); };
    };
    const std::vector<Var> parts = projections_.split(tape, x, &past.recent[0]);
    return output_.forward(tape, mix(parts, by_stream(0), by_stream(1)));
  }

  void visit(Visitor& visitor) override {
    visitor("projections", projections_);
    visitor("shift", shift_);
    visitor("filter", diagonal_);
    visitor("output", output_);
  }

 private:
  /// Combines `parts` q, k and v.
  template <class Shift, class Diagonal>
  Var mix(const std::vector<Var>& parts, const Shift& shift, const Diagonal& diagonal) const {
    const Var &q = parts[0], &k = parts[1], &v = parts[2];
    return read(q, diagonal(shifts_key_ ? products(shift(k), v) : products(k, shift(v))));
  }

  /// Returns k v^T per head. (B, T, D), (B, T, D) -> (B, T, D channels)
  Var products(const Var& k, const Var& v) const {
    if (channels_ == 1) return k * v;
    const std::size_t B = k.dim(0), T = k.dim(1), H = width_ / channels_;
    const Var rows = reshape(k, {B, T, H, channels_, 1});
    return reshape(rows * reshape(v, {B, T, H, 1, channels_}), {B, T, width_ * channels_});
  }
  /// Returns q^T S per head. (B, T, D), (B, T, D channels) -> (B, T, D)
  Var read(const Var& q, const Var& S) const {
    if (channels_ == 1) return q * S;
    const std::size_t B = q.dim(0), T = q.dim(1), H = width_ / channels_;
    const Var rows = reshape(q, {B, T, H, channels_, 1});
    return reshape(sum(rows * reshape(S, {B, T, H, channels_, channels_}), 3), q.shape());
  }
  /// Repeats the kernel of a head for each of its products. (L, H) -> (L, D channels)
  Var per_product(const Var& kernel) const {
    if (channels_ == 1) return kernel;
    const std::size_t L = kernel.dim(0), H = kernel.dim(1);
    const Var each = broadcast_to(reshape(kernel, {L, H, 1}), {L, H, channels_ * channels_});
    return reshape(each, {L, width_ * channels_});
  }

  bool shifts_key_;
  std::size_t width_, channels_;
  ManyProjections projections_;
  TwoSidedFilter shift_, diagonal_;
  Linear output_;
};

}  // namespace

void add_h3(Mixers& all) {
  all.add("h3", make<H3Mixer, H3Spec>, {.features = false});
  all.share<FilterSection>("h3");
}

}  // namespace bochner::inline BOCHNER_PRECISION
