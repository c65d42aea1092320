#include <bochner/autodiff/ops/attention/dplr_delta_rule.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Computes f(x W + b) U + c through a narrow layer. (.., D) -> (.., D)
class NarrowMap : public Module {
 public:
  NarrowMap(std::size_t width, std::size_t rank, double scale)
      : down_(width, rank),
        up_({rank, width}, Initial::normal(scale / std::sqrt(double(rank)))),
        bias_({width}) {}
  Tensor& bias() { return bias_.value(); }
  Var forward(Tape& tape, const Var& x, Var (*f)(const Var&)) {
    const Var y = down_.forward(tape, x);
    return affine(f ? f(y) : y, tape(up_), tape(bias_));
  }
  void visit(Visitor& visitor) override {
    visitor("down", down_);
    visitor("up", up_);
    visitor("bias", bias_);
  }

 private:
  Linear down_;
  Parameter up_, bias_;
};

/// Time mixing of RWKV-7: per head S_t = diag(w_t) S_(t-1) - (u_t o a_t) (S_(t-1)^T u_t)^T + k_t
/// v_t^T and S_t^T r_t, with a key u of length 1 that erases, and decays w = exp(-e^(-1/2)
/// sigmoid(..)) and rates a = sigmoid(..) for each channel. Every input is a learned mean of the
/// token and the one before. Then a layer norm of each head, the token's own value, a gate and a
/// linear map. Non-causal models add a pass from the last token. Without the values of the first
/// block that later blocks mix in. Peng et al., "RWKV-7 Goose", 2025.
class Rwkv7Mixer : public Mixer {
 public:
  Rwkv7Mixer(const MixerSpec& spec, const Rwkv7Spec& own)
      : causal_(spec.causal),
        heads_(spec.heads),
        chunk_(spec.chunk),
        shift_(filled({6, spec.width}, real(0.5))),
        receptance_(spec.width, spec.width),
        key_(spec.width, spec.width),
        value_(spec.width, spec.width),
        decay_(spec.width, own.rank, 0.1),
        rate_(spec.width, own.rank, 0.1),
        gate_(spec.width, own.rank, 1),
        erase_key_(filled({spec.width}, real(1))),
        write_rate_(filled({spec.width}, real(1))),
        bonus_({spec.width}),
        gain_(filled({spec.width}, real(1))),
        bias_({spec.width}),
        output_(spec.width, spec.width) {
    require_heads(spec);
    require_traits(spec);
    for (std::size_t c = 0; c < spec.width; ++c)  // memories of 1,800 to 6 tokens
      decay_.bias().data()[c] =
          real(-7 + 6 * double(c) / double(std::max<std::size_t>(1, spec.width - 1)));
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_equal_distances(layout.regular(), "rwkv7");
    const std::size_t T = x.dim(1), before = std::min<std::size_t>(1, T);
    const Inputs in = inputs(tape, x, pad(slice(x, 1, 0, T - before), 1, before, 0));
    Var y = pass(in, layout.lengths, false);
    if (!causal_) y = y + pass(in, layout.lengths, true);
    return outputs(tape, in, y);
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<TensorState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "rwkv7");
    require_equal_distances(state.gap == 1, "rwkv7");
    auto& past = static_cast<TensorState&>(state);
    const std::size_t B = x.dim(0), d = x.dim(2) / heads_;
    if (past.position++ == 0)
      past.values = zeros({B * heads_, d, d}), past.recent = {zeros(x.shape())};
    const Inputs in = inputs(tape, x, tape.constant(past.recent[0]));
    past.recent[0] = x.value();
    Tensor y = dplr_delta_rule_step(past.values, single_token(in.r), single_token(in.k),
                                    single_token(in.v), single_token(in.read),
                                    single_token(in.erased), single_token(in.rate));
    y.reshape(in.v.shape());
    return outputs(tape, in, tape.constant(std::move(y)));
  }

  void visit(Visitor& visitor) override {
    visitor("shift.shares", shift_);
    visitor("receptance", receptance_);
    visitor("key", key_);
    visitor("value", value_);
    visitor("decay", decay_);
    visitor("rate", rate_);
    visitor("gate", gate_);
    visitor("erase_key", erase_key_);
    visitor("write_rate", write_rate_);
    visitor("bonus", bonus_);
    visitor("gain", gain_);
    visitor("bias", bias_);
    visitor("output", output_);
  }

 private:
  /// (B, T, H, d) each: erased and read are u o a and -u; and the gate (B, T, D)
  struct Inputs {
    Var r, k, v, read, erased, rate, gate;
  };
  /// `before` holds the token before each of x, (B, T, D).
  Inputs inputs(Tape& tape, const Var& x, const Var& before) {
    const std::size_t d = x.dim(2) / heads_;
    const Shape heads{x.dim(0), x.dim(1), heads_, d};
    const Var change = before - x, shares = tape(shift_);
    const auto mixed = [&](std::size_t i) { return x + change * slice(shares, 0, i, i + 1); };
    const auto by_head = [&](Parameter& p) { return reshape(tape(p), {heads_, d}); };
    const Var k = key_.forward(tape, mixed(1), heads), u = unit_heads(k * by_head(erase_key_));
    const Var a = reshape(sigmoid(rate_.forward(tape, mixed(4), nullptr)), heads);
    const Var w = reshape(sigmoid(decay_.forward(tape, mixed(3), tanh)), heads);
    return {receptance_.forward(tape, mixed(0), heads),
            k * (1 + (a - 1) * by_head(write_rate_)),
            value_.forward(tape, mixed(2), heads),
            -u,
            u * a,
            w * std::exp(-0.5),
            gate_.forward(tape, mixed(5), sigmoid)};
  }

  Var pass(const Inputs& in, const std::vector<std::size_t>& lengths, bool reverse) const {
    return dplr_delta_rule(in.r, in.k, in.v, in.read, in.erased, in.rate,
                           {chunk_, lengths, reverse});
  }

  Var outputs(Tape& tape, const Inputs& in, const Var& read) {
    const std::size_t d = read.dim(3);
    const Var normed =
        layer_norm(read, Var(filled({d}, real(1))), Var(zeros({d})), real(1e-5 * double(d)));
    const Var weight = sum(in.r * in.k * reshape(tape(bonus_), {heads_, d}), {-1}, keep);
    const Var y = reshape(normed, in.gate.shape()) * tape(gain_) + tape(bias_) +
                  reshape(weight * in.v, in.gate.shape());
    return output_.forward(tape, y * in.gate);
  }

  bool causal_;
  std::size_t heads_, chunk_;
  Parameter shift_;  // (6, D): shares of the token before, for r, k, v, decay, rate and gate
  Linear receptance_, key_, value_;
  NarrowMap decay_, rate_, gate_;
  Parameter erase_key_, write_rate_, bonus_, gain_, bias_;  // (D)
  Linear output_;
};

}  // namespace

void add_rwkv7(Mixers& all) {
  all.add("rwkv7", make<Rwkv7Mixer, Rwkv7Spec>,
          {.heads = true, .carries = true, .features = false});
}

}  // namespace bochner::inline BOCHNER_PRECISION
