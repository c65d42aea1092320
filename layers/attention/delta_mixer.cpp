#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/attention/time_kernel.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <optional>
#include <utility>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct DeltaMixerState : MixerState {
  /// Created at the first token, when the number of features is known.
  std::optional<DeltaRuleState> memory;
};

/// Key and value of a further write of each token.
struct FurtherWrite : Module {
  explicit FurtherWrite(std::size_t width) : key(width, width), value(width, width) {}
  void visit(Visitor& visitor) override {
    visitor("key", key);
    visitor("value", value);
  }
  Linear key, value;
};

/// One write of each token: keys as features, values (B, T, H, d), strengths (B, T, H).
struct Write {
  Features k;
  Var v, strength;
};

/// Interleaves arrays (B, T, ..) token by token, or backwards within each token. n of them -> (B, n
/// T, ..)
Var interleaved(std::vector<Var> parts, bool backwards) {
  if (parts.size() == 1) return parts[0];
  if (backwards) std::ranges::reverse(parts);
  Shape one = parts[0].shape(), all = one;
  one.insert(one.begin() + 2, {1});
  all[1] *= parts.size();
  for (Var& part : parts) part = reshape(part, one);
  return reshape(concat(parts, 2), all);
}

/// Interleaves features of one map.
Features interleaved_features(const std::vector<Features>& parts, bool backwards) {
  std::vector<Var> tokens, coefficients;
  for (const Features& part : parts) {
    tokens.push_back(part.tokens);
    if (part.are_products()) coefficients.push_back(part.coefficients);
  }
  Features all = parts[0];
  all.tokens = interleaved(tokens, backwards);
  if (all.are_products()) all.coefficients = interleaved(coefficients, backwards);
  return all;
}

/// Interleaves the rates of tokens with n - 1 zeros each: a token decays once, before its first
/// write. (H), (H, F), (B, T, H) or (B, T, H, F) -> (B, n T, H) or (B, n T, H, F)
Var rates_of_writes(const Var& rate, std::size_t B, std::size_t T, std::size_t n, bool backwards) {
  if (!rate.exists() || n == 1) return rate;
  Shape shape = rate.shape();
  if (rate.rank() < 3) shape.insert(shape.begin(), {B, T});
  std::vector<Var> parts(n, Var(zeros(shape)));
  parts[0] = broadcast_to(rate, shape);
  return interleaved(parts, backwards);
}

/// (Gated) delta rule over any feature map: a token writes the difference between its value and the
/// one that its key recalls, with a learned strength. Heads are RMS-normed instead of divided by a
/// sum of weights. Non-causal attention adds a pass from the last token to the first. With two
/// gates the value is w / e v for strengths e to erase and w to write; with several steps a token
/// writes that often before it reads: Siems et al., "DeltaProduct", 2025.
class DeltaMixer : public AttentionMixer {
 public:
  explicit DeltaMixer(const MixerSpec& spec)
      : AttentionMixer(spec),
        causal_(spec.causal),
        heads_(spec.heads),
        chunk_(spec.chunk),
        steps_(spec.delta.steps),
        max_strength_(spec.delta.negative ? 2 : 1),
        features_(make_feature_map(features_per_head(spec))),
        per_channel_(spec.time_kernel.per == "channel"),
        time_kernel_(spec.time_kernel, spec.heads, spec.width, key_channels(spec, *features_)),
        strength_(spec.width, spec.heads * spec.delta.steps) {
    require(spec.window == 0 && spec.warm == "none", "delta",
            "the delta rule supports neither a window nor a warm start; set window = 0 and warm = "
            "\"none\"");
    require(steps_ == 1 || (spec.normalize == "none" && !spec.rotary && spec.time.kind == "none"),
            "delta", "steps = ", steps_,
            " needs normalize = \"none\", no rotary positions and no time in queries and keys");
    for (std::size_t i = 1; i < steps_; ++i)
      further_.push_back(std::make_unique<FurtherWrite>(spec.width));
    if (spec.delta.two_gates)
      write_gate_ = std::make_unique<Linear>(spec.width, spec.heads * steps_);
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<DeltaMixerState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "delta");
    auto& past = static_cast<DeltaMixerState&>(state);
    const std::size_t position = past.position;
    Normed rows(x);
    const Var strengths = strength(tape, x);
    const Heads heads = projections_.split(tape, rows, past);
    const Var modulation = time_kernel_.modulation(tape, {}, 1, past.time);
    const Tensor queries =
        single_token(modulated(features_->queries(tape, heads.q, position), modulation).values());
    Var rate = time_kernel_.rate(tape, x);
    if (rate.exists()) rate = scale(rate, real(past.gap));
    const Tensor rates = single_rates(rate, x.dim(0));
    Tensor y;
    bool decays = rate.exists();  // before the first write
    for (const Write& write : writes(tape, x, strengths, heads, modulation, position)) {
      const Tensor keys = single_token(write.k.values()), values = single_token(write.v);
      if (!past.memory) past.memory.emplace(keys.shape()[0], keys.shape()[1], values.shape()[1]);
      y = delta_rule_step(*past.memory, queries, keys, values, write.strength.value(),
                          std::exchange(decays, false) ? &rates : nullptr, write.k.scale);
    }
    y.reshape(heads.v.shape());
    return projections_.join(tape, normed_heads(tape.constant(std::move(y))));
  }

  void visit(Visitor& visitor) override {
    projections_.visit(visitor);
    visitor("features", *features_);
    visitor("time_kernel", time_kernel_);
    visitor("strength", strength_);
    visitor("steps", further_);
    if (write_gate_) visitor("write_gate", *write_gate_);
  }

 private:
  Var attend(Tape& tape, Normed& x, const Layout& layout) override {
    const Var rows = x.rows(tape), strengths = strength(tape, rows);
    const Heads heads = projections_.split(tape, x, layout);
    const Var rate = time_kernel_.rate(tape, x, layout);
    const Var modulation = time_kernel_.modulation(tape, layout, x.dim(1), 0);
    if (tape.observer)
      show_attention(tape, *this,
                     {heads.q, heads.k, per_channel_ ? mean(rate, {-1}) : rate,
                      time_kernel_.rotation(tape), modulation, causal_, layout.lengths});
    const Features q = modulated(features_->queries(tape, heads.q), modulation);
    const std::vector<Write> all = writes(tape, rows, strengths, heads, modulation, 0);
    const Var past = pass(q, all, rate, layout, false);
    if (causal_) return normed_heads(past);
    const Var reverse_rate =
        layout.regular() ? rate : time_kernel_.rate(tape, x, reversed_layout(layout));
    return normed_heads(past + pass(q, all, reverse_rate, layout, true));
  }

  /// Applies the rule in one direction, in which a token decays, writes and then reads.
  Var pass(const Features& q, const std::vector<Write>& all, const Var& rate, const Layout& layout,
           bool reverse) const {
    std::vector<Features> keys;
    std::vector<Var> values, strengths;
    for (const Write& write : all) {
      keys.push_back(write.k);
      values.push_back(write.v);
      strengths.push_back(write.strength);
    }
    const Shape shape = all[0].v.shape();  // (B, T, H, d)
    std::vector<std::size_t> lengths = layout.lengths;
    for (std::size_t& length : lengths) length *= steps_;
    const Var y = delta_rule(
        interleaved_features(std::vector(steps_, q), false), interleaved_features(keys, reverse),
        interleaved(values, reverse), interleaved(strengths, reverse),
        rates_of_writes(rate, shape[0], shape[1], steps_, reverse), {chunk_, lengths, reverse});
    if (steps_ == 1) return y;
    const Var each = reshape(y, {shape[0], shape[1], steps_, shape[2], shape[3]});
    const std::size_t last = reverse ? 0 : steps_ - 1;
    return reshape(slice(each, 2, last, last + 1), shape);
  }

  /// Returns the strengths that erase. (B, T, D) -> (B, T, steps H)
  Var strength(Tape& tape, const Var& x) {
    const Var share = sigmoid(strength_.forward(tape, x));
    return max_strength_ == 1 ? share : scale(share, max_strength_);
  }

  /// Returns the writes of tokens x (B, T, D), in their order.
  std::vector<Write> writes(Tape& tape, const Var& x, const Var& strengths, const Heads& heads,
                            const Var& modulation, std::size_t position) {
    const Var written = write_gate_ ? sigmoid(write_gate_->forward(tape, x)) / strengths : Var();
    std::vector<Write> all;
    for (std::size_t i = 0; i < steps_; ++i) {
      FurtherWrite* further = i == 0 ? nullptr : further_[i - 1].get();
      const Var k = further ? further->key.forward(tape, x, heads.k.shape()) : heads.k;
      Var v = further ? further->value.forward(tape, x, heads.v.shape()) : heads.v;
      if (write_gate_) v = v * reshape(of_step(written, i), {v.dim(0), v.dim(1), heads_, 1});
      all.push_back(
          {modulated(features_->keys(tape, k, position), modulation), v, of_step(strengths, i)});
    }
    return all;
  }

  /// Returns the gates of one write. (B, T, steps H) -> (B, T, H)
  Var of_step(const Var& gates, std::size_t i) const {
    return steps_ == 1 ? gates : slice(gates, -1, i * heads_, (i + 1) * heads_);
  }

  bool causal_;
  std::size_t heads_, chunk_, steps_;
  real max_strength_;
  std::unique_ptr<FeatureMap> features_;
  bool per_channel_;  ///< rates of the time kernel
  TimeKernel time_kernel_;
  Linear strength_;
  std::vector<std::unique_ptr<FurtherWrite>> further_;
  std::unique_ptr<Linear> write_gate_;  ///< for two gates
};

}  // namespace

std::unique_ptr<Mixer> make_delta_mixer(const MixerSpec& spec) {
  return std::make_unique<DeltaMixer>(spec);
}

}  // namespace bochner::inline BOCHNER_PRECISION
