#include <bochner/layers/attention/mixers.hpp>
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

}  // namespace

LinearMixer::LinearMixer(const MixerSpec& spec)
    : causal_(spec.causal),
      chunk_(spec.chunk),
      projections_(spec),
      features_(feature_maps().make(spec.features.kind, per_head(spec))),
      time_kernel_(spec.time_kernel, spec.heads) {}

Var LinearMixer::forward(Tape& tape, const Var& x) {
  const auto [q, k, v] = projections_.split(tape, x);
  const Features query = features_->features(tape, q), key = features_->features(tape, k);
  return projections_.join(tape,
                           linear_attention(query.values, key.values, v, time_kernel_.rate(tape),
                                            {query.scale, causal_, chunk_}));
}

std::unique_ptr<MixerState> LinearMixer::start() const { return std::make_unique<LinearState>(); }

Var LinearMixer::step(Tape& tape, const Var& x, MixerState& state) {
  require(causal_, "linear", "only causal attention can be computed token by token");
  auto& past = static_cast<LinearState&>(state);
  const auto [q, k, v] = projections_.split(tape, x, past);
  const Features query = features_->features(tape, q), key = features_->features(tape, k);
  if (!past.sums) past.sums.emplace(v.dim(2), key.values.dim(3), v.dim(3));
  const Var rate = time_kernel_.rate(tape);
  Tensor y =
      linear_attention_step(*past.sums, single_token(query.values), single_token(key.values),
                            single_token(v), rate.exists() ? &rate.value() : nullptr, key.scale);
  y.reshape(v.shape());
  return projections_.join(tape, tape.constant(std::move(y)));
}

void LinearMixer::visit(Visitor& visitor) {
  projections_.visit(visitor);
  visitor("features", *features_);
  visitor("time_kernel", time_kernel_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
