#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct DeltaMixerState : MixerState {
  /// Created at the first token, when the number of features is known.
  std::optional<DeltaRuleState> memory;
};

/// (Gated) delta rule over any feature map: a token writes the difference between its value and the
/// one that its key recalls, with a learned strength. Heads are RMS-normed instead of divided by a
/// sum of weights. Non-causal attention adds a pass from the last token to the first.
class DeltaMixer : public AttentionMixer {
 public:
  explicit DeltaMixer(const MixerSpec& spec)
      : AttentionMixer(spec),
        causal_(spec.causal),
        chunk_(spec.chunk),
        max_strength_(spec.delta.negative ? 2 : 1),
        features_(make_feature_map(features_per_head(spec))),
        per_channel_(spec.time_kernel.per == "channel"),
        time_kernel_(spec.time_kernel, spec.heads, spec.width, key_channels(spec, *features_)),
        strength_(spec.width, spec.heads) {
    require(spec.window == 0 && spec.warm == "none", "delta",
            "the delta rule supports neither a window nor a warm start; set window = 0 and warm = "
            "\"none\"");
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<DeltaMixerState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "delta");
    auto& past = static_cast<DeltaMixerState&>(state);
    const std::size_t position = past.position;
    Normed rows(x);
    const Heads heads = projections_.split(tape, rows, past);
    const Var modulation = time_kernel_.modulation(tape, {}, 1, past.time);
    const Features q = modulated(features_->queries(tape, heads.q, position), modulation);
    const Features k = modulated(features_->keys(tape, heads.k, position), modulation);
    Var rate = time_kernel_.rate(tape, x);
    if (rate.exists()) rate = scale(rate, real(past.gap));
    const Tensor queries = single_token(q.values()), keys = single_token(k.values());
    const Tensor values = single_token(heads.v);
    if (!past.memory) past.memory.emplace(keys.shape()[0], keys.shape()[1], values.shape()[1]);
    const Tensor rates = single_rates(rate, x.dim(0));
    Tensor y = delta_rule_step(*past.memory, queries, keys, values, strength(tape, x).value(),
                               rate.exists() ? &rates : nullptr, k.scale);
    y.reshape(heads.v.shape());
    return projections_.join(tape, normed_heads(tape.constant(std::move(y))));
  }

  void visit(Visitor& visitor) override {
    projections_.visit(visitor);
    visitor("features", *features_);
    visitor("time_kernel", time_kernel_);
    visitor("strength", strength_);
  }

 private:
  Var attend(Tape& tape, Normed& x, const Layout& layout) override {
    const Var strengths = strength(tape, x.rows(tape));
    const Heads heads = projections_.split(tape, x, layout);
    const Var rate = time_kernel_.rate(tape, x, layout);
    const Var modulation = time_kernel_.modulation(tape, layout, x.dim(1), 0);
    if (tape.observer)
      show_attention(tape, *this,
                     {heads.q, heads.k, per_channel_ ? mean(rate, {-1}) : rate,
                      time_kernel_.rotation(tape), modulation, causal_, layout.lengths});
    const Features q = modulated(features_->queries(tape, heads.q), modulation);
    const Features k = modulated(features_->keys(tape, heads.k), modulation);
    const auto pass = [&](const Var& decay, bool reverse) {
      return delta_rule(q, k, heads.v, strengths, decay, {chunk_, layout.lengths, reverse});
    };
    const Var past = pass(rate, false);
    if (causal_) return normed_heads(past);
    const Var reverse_rate =
        layout.regular() ? rate : time_kernel_.rate(tape, x, reversed_layout(layout));
    return normed_heads(past + pass(reverse_rate, true));
  }

  /// Returns the write strengths. (B, T, D) -> (B, T, H)
  Var strength(Tape& tape, const Var& x) {
    const Var share = sigmoid(strength_.forward(tape, x));
    return max_strength_ == 1 ? share : scale(share, max_strength_);
  }

  bool causal_;
  std::size_t chunk_;
  real max_strength_;
  std::unique_ptr<FeatureMap> features_;
  bool per_channel_;  ///< rates of the time kernel
  TimeKernel time_kernel_;
  Linear strength_;
};

}  // namespace

std::unique_ptr<Mixer> make_delta_mixer(const MixerSpec& spec) {
  return std::make_unique<DeltaMixer>(spec);
}

}  // namespace bochner::inline BOCHNER_PRECISION
