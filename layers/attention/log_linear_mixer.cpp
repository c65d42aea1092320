#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct LogLinearMixerState : MixerState {
  LogLinearState sums;
};

/// Linear attention over any feature map, with a weight softplus(..) of each token for each level
/// of a Fenwick tree, see log_linear_attention(), times the time kernel. Features have length 1 and
/// heads are RMS-normed, as with the delta rule. Non-causal attention adds a pass from the last
/// token to the first. Guo et al., "Log-linear attention", 2025.
class LogLinearMixer : public AttentionMixer {
 public:
  LogLinearMixer(const MixerSpec& spec, const LogLinearSpec& own)
      : AttentionMixer(spec),
        causal_(spec.causal),
        heads_(spec.heads),
        chunk_(spec.chunk),
        features_(make_feature_map(features_per_head(spec))),
        time_kernel_(spec.time_kernel, spec.heads, spec.width),
        level_weights_(spec.width, spec.heads * own.levels, Initial::normal(0.02)) {
    require_traits(spec);
    require(spec.time_kernel.per == "head", "log_linear",
            "has a rate per head; set time_kernel.per = \"head\"");
  }

  std::unique_ptr<MixerState> start() const override {
    return std::make_unique<LogLinearMixerState>();
  }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "log_linear");
    auto& past = static_cast<LogLinearMixerState&>(state);
    const std::size_t position = past.position;
    Normed rows(x);
    const Heads heads = projections_.split(tape, rows, past);
    const Inputs in =
        inputs(tape, x, heads, time_kernel_.modulation(tape, {}, 1, past.time), position);
    Var rate = time_kernel_.rate(tape, x);
    if (rate.exists()) rate = scale(rate, real(past.gap));
    const Tensor rates = single_rates(rate, x.dim(0));
    Tensor y = log_linear_attention_step(past.sums, single_token(in.q), single_token(in.k),
                                         single_token(heads.v), single_token(in.weights),
                                         rate.exists() ? &rates : nullptr);
    y.reshape(heads.v.shape());
    return projections_.join(tape, normed_heads(tape.constant(std::move(y))));
  }

  void visit(Visitor& visitor) override {
    projections_.visit(visitor);
    visitor("features", *features_);
    visitor("time_kernel", time_kernel_);
    visitor("level_weights", level_weights_);
  }

 private:
  /// Features (B, T, H, F) of length 1, and weights (B, T, H, L).
  struct Inputs {
    Var q, k, weights;
  };
  Inputs inputs(Tape& tape, const Var& x, const Heads& heads, const Var& modulation,
                std::size_t first) {
    const Var weights = softplus(level_weights_.forward(tape, x));
    return {unit_features(modulated(features_->queries(tape, heads.q, first), modulation)),
            unit_features(modulated(features_->keys(tape, heads.k, first), modulation)),
            reshape(weights, {x.dim(0), x.dim(1), heads_, weights.dim(2) / heads_})};
  }
  static Var unit_features(const Features& features) {
    const Var values = features.values();
    if (features.scale == FeatureScale::linear) return unit_heads(values);
    return unit_heads(exp(values - Var(max(values, -1, keep).value())));
  }

  Var attend(Tape& tape, Normed& x, const Layout& layout) override {
    const Var rows = x.rows(tape);
    const Heads heads = projections_.split(tape, x, layout);
    const Var rate = time_kernel_.rate(tape, x, layout);
    const Var modulation = time_kernel_.modulation(tape, layout, x.dim(1), 0);
    if (tape.observer)
      show_attention(tape, *this,
                     {heads.q, heads.k, rate, time_kernel_.rotation(tape), modulation, causal_,
                      layout.lengths});
    const Inputs in = inputs(tape, rows, heads, modulation, 0);
    const auto pass = [&](const Var& rate, bool reverse) {
      return log_linear_attention(in.q, in.k, heads.v, in.weights, rate,
                                  {chunk_, layout.lengths, reverse});
    };
    const Var past = pass(rate, false);
    if (causal_) return normed_heads(past);
    const Var reverse_rate =
        layout.regular() ? rate : time_kernel_.rate(tape, x, reversed_layout(layout));
    return normed_heads(past + pass(reverse_rate, true));
  }

  bool causal_;
  std::size_t heads_, chunk_;
  std::unique_ptr<FeatureMap> features_;
  TimeKernel time_kernel_;
  Linear level_weights_;
};

}  // namespace

void add_log_linear(Mixers& all) {
  all.add("log_linear", make<LogLinearMixer, LogLinearSpec>,
          {.heads = true,
           .queries = true,
           .normalize = true,
           .times = true,
           .shows_attention = true,
           .time_kernels = {"decay", "rotation", "spectral", "gate"},
           .convolution = true,
           .gaps = true,
           .values = true});
}

}  // namespace bochner::inline BOCHNER_PRECISION
