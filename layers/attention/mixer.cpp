#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <bochner/layers/attention/warm_start.hpp>
#include <cmath>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// All keys and values so far, (position, H, d) each: exact attention needs its whole past.
struct SoftmaxState : MixerState {
  std::vector<real> keys, values;
};

/// One query of one head against n keys; `weights` is scratch for n numbers. -> y (d)
void attend(const real* q, const real* keys, const real* values, std::size_t n, std::size_t stride,
            std::size_t d, real rate, std::vector<real>& weights, real* y) {
  const real scale = 1 / std::sqrt(real(d));
  for (std::size_t j = 0; j < n; ++j) {
    weights[j] = scale * dot_row(q, keys + j * stride, d) - rate * real(n - 1 - j);
  }
  const real top = max_row(weights.data(), n);
  for (std::size_t j = 0; j < n; ++j) weights[j] = math::exp(weights[j] - top);
  const real total = sum_row(weights.data(), n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t e = 0; e < d; ++e) y[e] += weights[j] / total * values[j * stride + e];
  }
}

/// Exact softmax attention; the time kernel becomes a learned linear penalty on the lag (ALiBi).
class SoftmaxMixer : public Mixer {
 public:
  explicit SoftmaxMixer(const MixerSpec& spec)
      : causal_(spec.causal),
        projections_(spec),
        time_kernel_(spec.time_kernel, spec.heads, spec.width) {
    const std::string& kernel = spec.time_kernel.kind;
    require(kernel == "none" || kernel == "decay", "softmax", "time kernel ", kernel,
            " is for linear attention; exact attention has: none, decay");
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_regular(layout.regular());
    const auto [q, k, v] = projections_.split(tape, x, layout);
    const Var rate = time_kernel_.rate(tape, x);
    show_attention(tape, *this, {q, k, rate, Var(), Var(), causal_});
    return projections_.join(tape, softmax_attention(q, k, v, rate, causal_, layout.lengths));
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<SoftmaxState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require(causal_, "softmax", "only causal attention can be computed token by token");
    auto& past = static_cast<SoftmaxState&>(state);
    require_regular(past.gap == 1);
    const auto [q, k, v] = projections_.split(tape, x, past);
    past.keys.insert(past.keys.end(), k.data(), k.data() + k.size());
    past.values.insert(past.values.end(), v.data(), v.data() + v.size());
    const std::size_t n = past.position, H = q.dim(2), d = q.dim(3);
    const Var rate = time_kernel_.rate(tape, x);
    Tensor y = zeros(q.shape());
    std::vector<real> weights(n);
    for (std::size_t h = 0; h < H; ++h) {
      attend(q.data() + h * d, past.keys.data() + h * d, past.values.data() + h * d, n, H * d, d,
             rate.exists() ? rate.data()[h] : real(0), weights, y.data() + h * d);
    }
    return projections_.join(tape, tape.constant(std::move(y)));
  }

  void visit(Visitor& visitor) override {
    projections_.visit(visitor);
    visitor("time_kernel", time_kernel_);
  }

 private:
  void require_regular(bool regular) const {
    require(
        regular || !time_kernel_.active(), "softmax",
        "the time kernel of exact attention needs tokens at equal distances; for irregular time "
        "stamps choose linear attention or an encoding of time");
  }

  bool causal_;
  Projections projections_;
  TimeKernel time_kernel_;
};

struct LinearState : MixerState {
  /// Made at the first token, when the number of features is known.
  std::optional<LinearAttentionState> sums;
};

FeatureSpec per_head(const MixerSpec& spec) {
  FeatureSpec features = spec.features;
  features.heads = features.density.heads = spec.heads;
  features.dim = features.density.dim = spec.width / spec.heads;
  features.density.m = features.m;
  return features;
}

/// (1, 1, H, n) -> (H, n)
Tensor single_token(const Var& x) {
  Tensor token = x.value();
  token.reshape(Shape{x.dim(2), x.dim(3)});
  return token;
}

/// One more feature, so that phi(q) . phi(k) grows by the constant. (.., F) -> (.., F + 1)
Var with_constant(const Var& features, double constant) {
  Shape shape = features.shape();
  shape.back() = 1;
  return concat({features, filled(shape, real(std::sqrt(constant)))}, -1);
}

/// Linear attention over any feature map, times the time kernel; O(T) in time, constant memory per
/// step.
class LinearMixer : public Mixer {
 public:
  explicit LinearMixer(const MixerSpec& spec)
      : causal_(spec.causal),
        chunk_(spec.chunk),
        kind_(spec.features.kind),
        denominator_(spec.denominator),
        projections_(spec),
        features_(make_feature_map(per_head(spec))),
        warm_(spec, *features_),
        time_kernel_(spec.time_kernel, spec.heads, spec.width) {
    require(denominator_.kind == "clip" || denominator_.kind == "smooth" ||
                denominator_.kind == "refuse" || denominator_.kind == "norm",
            "linear_attention", "no policy for denominators is called \"", denominator_.kind,
            "\"; there are: clip, smooth, norm, refuse");
    require(denominator_.floor > 0 && denominator_.constant > 0, "linear_attention",
            "floor and constant of the policy for denominators must be above 0");
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    const Heads heads = projections_.split(tape, x, layout);
    const Var rate = time_kernel_.rate(tape, x, layout);
    const Var turns = time_kernel_.turns(tape, layout, x.dim(1), 0);
    if (tape.observer)
      show_attention(
          tape, *this,
          {heads.q, heads.k, rate, time_kernel_.rotation(tape), turns, causal_, layout.lengths});
    const auto by_features = [&](const Heads& from, const Var& decay) {
      const auto [query, key, floor] = features_of(tape, from, 0, turns);
      return normed(
          tape,
          linear_attention(query, key, from.v, decay, {causal_, chunk_, layout.lengths, floor}),
          floor);
    };
    return projections_.join(tape, warm_.is_on(tape)
                                       ? warm_.forward(tape, heads, rate, layout, by_features)
                                       : by_features(heads, rate));
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<LinearState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require(causal_, "linear", "only causal attention can be computed token by token");
    auto& past = static_cast<LinearState&>(state);
    const std::size_t position = past.position;
    const Heads heads = projections_.split(tape, x, past);
    const Var& v = heads.v;
    const auto [query, key, floor] =
        features_of(tape, heads, position, time_kernel_.turns(tape, {}, 1, past.time));
    const Var queries = query.values(), keys = key.values();
    if (!past.sums) past.sums.emplace(v.dim(2), keys.dim(3), v.dim(3));
    Var rate = time_kernel_.rate(tape, x);
    if (rate.exists()) rate = scale(rate, real(past.gap));
    Tensor y = linear_attention_step(*past.sums, single_token(queries), single_token(keys),
                                     single_token(v), rate.exists() ? &rate.value() : nullptr,
                                     key.scale, floor);
    y.reshape(v.shape());
    return projections_.join(tape, normed(tape, tape.constant(std::move(y)), floor));
  }

  void visit(Visitor& visitor) override {
    projections_.visit(visitor);
    visitor("features", *features_);
    visitor("time_kernel", time_kernel_);
  }

 private:
  /// Features as attention takes them: signed ones under the policy for denominators.
  struct Pair {
    Features q, k;
    real floor;
  };
  Pair features_of(Tape& tape, const Heads& heads, std::size_t first, const Var& turns) {
    const Features query = turned(features_->queries(tape, heads.q, first), turns);
    const Features key = turned(features_->keys(tape, heads.k, first), turns);
    const bool signed_features = query.scale == FeatureScale::linear && !features_->positive();
    require(!signed_features || denominator_.kind != "refuse", "linear_attention",
            "features must be positive for policy \"refuse\": ", kind_,
            " features are signed; choose policy \"clip\" or \"smooth\"");
    if (!signed_features) return {query, key, 0};
    if (denominator_.kind == "clip") return {query, key, real(denominator_.floor)};
    if (denominator_.kind == "norm") return {query, key, undivided};
    return {with_constant(query.values(), denominator_.constant),
            with_constant(key.values(), denominator_.constant), 0};
  }

  /// Sums of weighted values in place of means, under a norm of each head. (B, T, H, d)
  Var normed(Tape& tape, const Var& y, real floor) const {
    if (floor != undivided) return y;
    return rms_norm(y * undivided, tape.constant(filled({y.dim(3)}, real(1))));
  }

  /// A floor that no sum of weights reaches: a division by it is exact, and undone by a product.
  static constexpr real undivided = real(0x1p60);

  bool causal_;
  std::size_t chunk_;
  std::string kind_;
  DenominatorSpec denominator_;
  Projections projections_;
  std::unique_ptr<FeatureMap> features_;
  WarmStart warm_;
  TimeKernel time_kernel_;
};

}  // namespace

void show_attention(const Tape& tape, const Mixer& mixer, const Attended& what) {
  if (auto* observer = dynamic_cast<AttentionObserver*>(tape.observer))
    observer->attended(mixer, what);
}

Registry<Mixer, MixerSpec>& mixers() {
  static Registry<Mixer, MixerSpec> registry(
      "mixer", {{"softmax", make<SoftmaxMixer>}, {"linear", make<LinearMixer>}});
  return registry;
}

}  // namespace bochner::inline BOCHNER_PRECISION
