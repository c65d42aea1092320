#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/attention/mixers.hpp>
#include <cmath>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct LinearState : MixerState {
  std::optional<LinearAttentionState>
      sums;  // made at the first token, when the number of features is known
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

void check(const DenominatorSpec& spec) {
  require(spec.kind == "clip" || spec.kind == "smooth" || spec.kind == "refuse", "linear_attention",
          "no policy for denominators is called \"", spec.kind,
          "\"; there are: clip, smooth, refuse");
  require(spec.floor > 0 && spec.constant > 0, "linear_attention",
          "floor and constant of the policy for denominators must be above 0");
}

/// One more feature, so that phi(q) . phi(k) grows by the constant. (.., F) -> (.., F + 1)
Var with_constant(const Var& features, double constant) {
  Shape shape = features.shape();
  shape.back() = 1;
  return concat({features, filled(shape, real(std::sqrt(constant)))}, -1);
}

}  // namespace

LinearMixer::LinearMixer(const MixerSpec& spec)
    : causal_(spec.causal),
      chunk_(spec.chunk),
      kind_(spec.features.kind),
      denominator_(spec.denominator),
      projections_(spec),
      features_(make_feature_map(per_head(spec))),
      time_kernel_(spec.time_kernel, spec.heads, spec.width) {
  check(denominator_);
}

LinearMixer::Pair LinearMixer::features_of(Tape& tape, const Projections::Heads& heads,
                                           std::size_t first, const Var& turns) {
  const Features query = turned(features_->queries(tape, heads.q, first), turns);
  const Features key = turned(features_->keys(tape, heads.k, first), turns);
  const bool signed_features = query.scale == FeatureScale::linear && !features_->positive();
  require(!signed_features || denominator_.kind != "refuse", "linear_attention",
          "features must be positive for policy \"refuse\": ", kind_,
          " features are signed; choose policy \"clip\" or \"smooth\"");
  if (!signed_features) return {query, key, 0};
  if (denominator_.kind == "clip") return {query, key, real(denominator_.floor)};
  return {with_constant(query.values(), denominator_.constant),
          with_constant(key.values(), denominator_.constant), 0};
}

Var LinearMixer::forward(Tape& tape, const Var& x, const Layout& layout) {
  const Projections::Heads heads = projections_.split(tape, x, layout);
  const Var rate = time_kernel_.rate(tape, x, layout);
  const Var turns = time_kernel_.turns(tape, layout, x.dim(1), 0);
  show_attention(tape, *this,
                 {heads.q, heads.k, rate, time_kernel_.rotation(tape), turns, causal_});
  const auto [query, key, floor] = features_of(tape, heads, 0, turns);
  return projections_.join(
      tape, linear_attention(query, key, heads.v, rate, {causal_, chunk_, layout.lengths, floor}));
}

std::unique_ptr<MixerState> LinearMixer::start() const { return std::make_unique<LinearState>(); }

Var LinearMixer::step(Tape& tape, const Var& x, MixerState& state) {
  require(causal_, "linear", "only causal attention can be computed token by token");
  auto& past = static_cast<LinearState&>(state);
  const std::size_t position = past.position;
  const Projections::Heads heads = projections_.split(tape, x, past);
  const Var& v = heads.v;
  const auto [query, key, floor] =
      features_of(tape, heads, position, time_kernel_.turns(tape, {}, 1, past.time));
  const Var queries = query.values(), keys = key.values();
  if (!past.sums) past.sums.emplace(v.dim(2), keys.dim(3), v.dim(3));
  Var rate = time_kernel_.rate(tape, x);
  if (rate.exists()) rate = scale(rate, real(past.gap));
  Tensor y =
      linear_attention_step(*past.sums, single_token(queries), single_token(keys), single_token(v),
                            rate.exists() ? &rate.value() : nullptr, key.scale, floor);
  y.reshape(v.shape());
  return projections_.join(tape, tape.constant(std::move(y)));
}

void LinearMixer::visit(Visitor& visitor) {
  projections_.visit(visitor);
  visitor("features", *features_);
  visitor("time_kernel", time_kernel_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
