#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/channel_attention.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/attention/kv_cache.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct LinearState : MixerState {
  /// Created at the first token, when the number of features is known.
  std::optional<LinearAttentionState> sums;
  ChannelState channels;  ///< replaces the sums with rates per channel
  KvCache window;
  std::deque<Tensor> features;  ///< of keys in the window (B, 1, H, F)
};

/// Appends a feature, so that phi(q) . phi(k) grows by the constant. (.., F) -> (.., F + 1)
Var with_constant(const Var& features, double constant) {
  return concat({features, filled(with_last(features.shape(), 1), real(std::sqrt(constant)))}, -1);
}

/// Gives the last channel, a constant, the slowest decay: if products of features sum to at least
/// minus its square, sums of weights stay positive at any lag. (.., F) -> (.., F)
Var with_slowest_last(const Var& rate) {
  const std::size_t F = rate.dim(-1);
  return concat({slice(rate, -1, 0, F - 1), -max(-rate, {-1}, keep)}, -1);
}

/// Returns whether the map's kernel, if known, is that of softmax attention, judged by the ratio of
/// the weights of two keys, of equal length if normalized.
bool estimates_softmax_kernel(const FeatureMap& map, std::size_t d, bool normalized) {
  std::vector<double> q(d), near(d), far(d);
  q[0] = 0.75, near[0] = 0.75, far[0] = normalized ? -0.75 : -1.5;
  const auto to_near = map.kernel(q, near), to_far = map.kernel(q, far);
  if (!to_near || !to_far) return true;
  const double wanted = std::exp(q[0] * (near[0] - far[0]) / std::sqrt(double(d)));
  return std::abs(*to_near / *to_far / wanted - 1) < 1e-9;
}

Var detached(Tape& tape, const Var& x) {
  return x.exists() ? Var(x.shared_value(), nullptr, &tape) : x;
}

/// First steps of training in which linear attention computes its target kernel exp(q . k /
/// sqrt(d)) exactly, in quadratic time, and trains its features to match. Projections learn from
/// exact attention, and the map from their outputs, before they depend on each other. Distillation
/// of attention: Zhang et al., "Hedgehog", 2024.
class WarmStart {
 public:
  /// Throws if the map is known to estimate another kernel, or exact attention cannot have the
  /// mixer's time kernel or denominator.
  WarmStart(const MixerSpec& spec, const FeatureMap& map);
  bool is_on(const Tape& tape) const { return tape.training && tape.step < passes_; }
  /// Returns exact attention (B, T, H, d) and adds mean (estimate - exact)^2 / mean exact^2 to the
  /// tape's loss, with gradients for the feature map only. `estimate` attends by features.
  Var forward(Tape& tape, const Heads& heads, const Var& rate, const Layout& layout,
              const std::function<Var(const Heads& heads, const Var& rate)>& estimate) const;

 private:
  std::uint64_t passes_;
  bool causal_;
};

WarmStart::WarmStart(const MixerSpec& spec, const FeatureMap& map)
    : passes_(spec.warm == "exact" ? spec.warm_steps : 0), causal_(spec.causal) {
  require(spec.warm == "none" || spec.warm == "exact", "mixer", "warm = \"", spec.warm,
          "\" must be none or exact");
  if (passes_ == 0) return;
  require(estimates_softmax_kernel(map, spec.width / spec.heads, spec.normalize == "l2"), "mixer",
          "warm = \"exact\" teaches the softmax kernel, but ", spec.features.kind,
          " estimates another one; set warm = \"none\" or use positive, hyperbolic ..");
  const std::string& time = spec.time_kernel.kind;
  require(time != "rotation" && time != "spectral", "mixer",
          "warm = \"exact\" does not support time kernel ", time, "; use none, decay or gate");
  require(spec.time_kernel.per == "head" && (spec.causal || time == "none"), "mixer",
          "warm = \"exact\" requires a time kernel per head in a causal model; set warm = \"none\" "
          "or time_kernel.per = \"head\"");
  require(spec.denominator.kind != "norm", "mixer",
          "warm = \"exact\" divides by the sum of weights; denominator.kind must not be \"norm\"");
}

Var WarmStart::forward(
    Tape& tape, const Heads& heads, const Var& rate, const Layout& layout,
    const std::function<Var(const Heads& heads, const Var& rate)>& estimate) const {
  const Var exact = softmax_attention(heads.q, heads.k, heads.v, rate, causal_, layout.lengths);
  if (!tape.recording && !tape.holding) return exact;
  const Heads seen = {detached(tape, heads.q), detached(tape, heads.k), detached(tape, heads.v)};
  const Var error = mean_squared_error(estimate(seen, detached(tape, rate)), exact.value());
  const double size = sum_of_squares(exact.data(), exact.size()) / double(exact.size());
  const double smallest = std::numeric_limits<real>::min();
  tape.add_loss(scale(error, real(1 / std::max(size, smallest))));
  return exact;
}

/// Linear attention over any feature map, times the time kernel; constant memory per step.
class LinearMixer : public AttentionMixer {
 public:
  explicit LinearMixer(const MixerSpec& spec)
      : AttentionMixer(spec),
        causal_(spec.causal),
        chunk_(spec.chunk),
        window_(spec.window),
        kind_(spec.features.kind),
        denominator_(spec.denominator),
        features_(make_feature_map(features_per_head(spec))),
        warm_(spec, *features_),
        signed_(has_signed_weights(spec, *features_)),
        per_channel_(spec.time_kernel.per == "channel"),
        constant_channel_(per_channel_ && adds_constant(spec, *features_)),
        time_kernel_(spec.time_kernel, spec.heads, spec.width, key_channels(spec, *features_)) {
    const std::string& kernel = spec.time_kernel.kind;
    require(window_ == 0 || (causal_ && (kernel == "none" || kernel == "decay")),
            "linear_attention", "window requires causal attention with time kernel none or decay");
    require(window_ == 0 || !per_channel_, "linear_attention",
            "window requires rates per head; set time_kernel.per = \"head\"");
    require(window_ == 0 || features_->positive(), "linear_attention",
            "window requires positive features; those of ", kind_, " are signed");
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<LinearState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "linear");
    auto& past = static_cast<LinearState&>(state);
    const std::size_t position = past.position;
    Normed rows(x);
    const Heads heads = projections_.split(tape, rows, past);
    Var rate = rates(tape, rows);
    if (window_ > 0) return projections_.join(tape, step_with_window(tape, heads, rate, past));
    const Var& v = heads.v;
    const auto [query, key, floor] = features_of(tape, heads.q, heads.k, position,
                                                 time_kernel_.modulation(tape, {}, 1, past.time));
    if (rate.exists()) rate = scale(rate, real(past.gap));
    if (per_channel_) {
      const Var y = channel_attention_step(past.channels, query, key, v, rate, floor);
      return projections_.join(tape, normed(y, floor));
    }
    if (!past.sums) past.sums.emplace(v.dim(0) * v.dim(2), key.shape()[3], v.dim(3));
    const Tensor rates = single_rates(rate, v.dim(0));
    Tensor y =
        linear_attention_step(*past.sums, query, key, v, rate.exists() ? &rates : nullptr, floor);
    return projections_.join(tape, normed(tape.constant(std::move(y)), floor));
  }

  void visit(Visitor& visitor) override {
    projections_.visit(visitor);
    visitor("features", *features_);
    visitor("time_kernel", time_kernel_);
  }

 private:
  Var attend(Tape& tape, Normed& x, const Layout& layout) override {
    const Var rate = rates(tape, x, layout);
    const Heads heads = projections_.split(tape, x, layout);
    const Var reverse_rate =
        causal_ || layout.regular() ? Var() : rates(tape, x, reversed_layout(layout));
    const Var modulation = time_kernel_.modulation(tape, layout, x.dim(1), 0);
    if (tape.observer)
      show_attention(tape, *this,
                     {heads.q, heads.k, per_channel_ ? mean(rate, {-1}) : rate,
                      time_kernel_.rotation(tape), modulation, causal_, layout.lengths, window_});
    const auto estimate = [&](const Heads& from, const Var& decay) {
      return window_ > 0 ? with_window(tape, from, decay, layout)
                         : by_features(tape, from, decay, reverse_rate, layout, modulation);
    };
    return warm_.is_on(tape) ? warm_.forward(tape, heads, rate, layout, estimate)
                             : estimate(heads, rate);
  }

  Var rates(Tape& tape, Normed& x, const Layout& layout = {}) {
    const Var rate = time_kernel_.rate(tape, x, layout);
    return constant_channel_ ? with_slowest_last(rate) : rate;
  }

  /// Features for attention, and the floor of the denominator if they are signed.
  struct Pair {
    Features q, k;
    real floor;
  };
  Pair features_of(Tape& tape, const Var& q, const Var& k, std::size_t first, const Var& modulation,
                   std::size_t delay = 0) {
    const Features query = modulated(features_->queries(tape, q, first + delay), modulation);
    const Features key = modulated(features_->keys(tape, k, first), modulation);
    const bool signed_features = query.scale == FeatureScale::linear && signed_;
    require(!signed_features || denominator_.kind != "refuse", "linear_attention",
            "features must be positive for policy \"refuse\": ", kind_,
            " features are signed; choose policy \"clip\" or \"smooth\"");
    if (!signed_features) return {query, key, 0};
    if (denominator_.kind == "clip") return {query, key, real(denominator_.floor)};
    if (denominator_.kind == "norm") return {query, key, unnormalized};
    return {with_constant(query.values(), denominator_.constant),
            with_constant(key.values(), denominator_.constant), 0};
  }

  /// -> (B, T, H, d)
  Var by_features(Tape& tape, const Heads& heads, const Var& rate, const Var& reverse_rate,
                  const Layout& layout, const Var& modulation) {
    const auto [query, key, floor] = features_of(tape, heads.q, heads.k, 0, modulation);
    const LinearAttentionOptions options{causal_, chunk_, layout.lengths, floor};
    const bool by_sums = per_channel_ || (!causal_ && rate.exists());
    return normed((by_sums ? channel_attention(query, key, heads.v, rate, options, reverse_rate)
                           : attention_per_head(query, key, heads.v, rate, options)),
                  floor);
  }

  /// Attends with a rate per head, or none. If weights underflow, computes the same from the sums
  /// of each channel, which are slower and have their own units.
  static Var attention_per_head(const Features& query, const Features& key, const Var& v,
                                const Var& rate, const LinearAttentionOptions& options) try {
    return linear_attention(query, key, v, rate, options);
  } catch (const std::underflow_error&) {
    const Var none(zeros({v.dim(2)}));
    return channel_attention(query, key, v, rate.exists() ? rate : none, options);
  }

  /// Attends exactly to the last tokens, by features to older ones, in one sum. -> (B, T, H, d)
  Var with_window(Tape& tape, const Heads& heads, const Var& rate, const Layout& layout) {
    time_kernel_.require_window(layout.regular(), "linear_attention");
    const std::size_t T = heads.v.dim(1), d = heads.v.dim(3);
    const Var near = local_attention(heads.q, heads.k, heads.v, rate, window_, layout.lengths);
    const Var means = slice(near, 3, 0, d);
    if (T <= window_) return means;
    const auto older = [&](const Var& x) { return slice(x, 1, 0, T - window_); };
    const auto later = [&](const Var& x) { return slice(x, 1, window_, T); };
    const Pair pair = features_of(tape, later(heads.q), older(heads.k), 0, Var(), window_);
    std::vector<std::size_t> lengths = layout.lengths;
    for (std::size_t& length : lengths) length -= std::min(length, window_);
    const Var far = linear_attention(pair.q, pair.k, older(heads.v), rate, {true, chunk_, lengths},
                                     later(near));
    return concat({slice(means, 1, 0, window_), far}, 1);
  }

  /// Does with_window() for one token. -> (B, 1, H, d)
  Var step_with_window(Tape& tape, const Heads& heads, const Var& rate, LinearState& past) {
    const std::size_t d = heads.v.dim(3);
    time_kernel_.require_window(past.gap == 1, "linear_attention");
    const Tensor rates = single_rates(rate, heads.v.dim(0));
    const Pair pair = features_of(tape, heads.q, heads.k, past.position - 1, Var());
    past.window.append(heads.k, heads.v, past.time);
    past.features.push_back(pair.k.values().value());
    const bool full = past.window.size() > window_;
    Tensor value = full ? past.window.pop_front() : Tensor();
    Tensor near = past.window.attend(heads.q, rates);
    if (!full) return means_of(tape, near, heads.v.shape());
    for (std::size_t h = 0; h < near.shape()[0] && rate.exists(); ++h)
      near(h, d) += rates(h) * real(window_);
    value.reshape(heads.v.shape());
    const Features key(tape.constant(std::move(past.features.front())), pair.k.scale);
    past.features.pop_front();
    if (!past.sums) past.sums.emplace(near.shape()[0], key.shape()[3], d);
    Tensor y = linear_attention_step(*past.sums, pair.q, key, tape.constant(std::move(value)),
                                     rate.exists() ? &rates : nullptr, 0, &near);
    return tape.constant(std::move(y));
  }

  /// Turns means back into sums of weighted values and norms each head. (B, T, H, d)
  static Var normed(const Var& y, real floor) {
    return floor == unnormalized ? normed_heads(y * unnormalized) : y;
  }

  bool causal_;
  std::size_t chunk_, window_;
  std::string kind_;
  DenominatorSpec denominator_;
  std::unique_ptr<FeatureMap> features_;
  WarmStart warm_;
  bool signed_;            ///< weights, see has_signed_weights()
  bool per_channel_;       ///< rates of the time kernel
  bool constant_channel_;  ///< after those of the features
  TimeKernel time_kernel_;
};

std::unique_ptr<Mixer> make_linear(const MixerSpec& spec) {
  if (spec.update == "delta") return make_delta_mixer(spec);
  return std::make_unique<LinearMixer>(spec);
}

/// The delta rule depends on the order of tokens; cosformer counts positions.
MixerTraits linear_traits(const MixerSpec& spec) {
  const bool sum = spec.update == "sum";
  return {.heads = true,
          .queries = true,
          .normalize = true,
          .times = true,
          .shows_attention = true,
          .time_kernels = {"decay", "rotation", "spectral", "gate"},
          .channel_rates = true,
          .window = sum,
          .convolution = true,
          .gaps = true,
          .any_order = sum && !counts_positions(spec.features),
          .carries = true,
          .values = true};
}

}  // namespace

void add_linear(Mixers& all) { all.add("linear", make_linear, linear_traits); }

}  // namespace bochner::inline BOCHNER_PRECISION
