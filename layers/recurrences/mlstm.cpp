#include <algorithm>
#include <bochner/autodiff/ops.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <cmath>
#include <limits>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct MlstmState : MixerState {
  std::optional<LinearAttentionState> sums;
  std::vector<double> log_scale;  ///< stabilizers m per sequence and head
};

/// Gates relative to e^m: decays e^-rate and inputs e^log_input, at most 1, and divisor e^-m.
struct StableGates {
  Var rate, log_input, min_divisor;  // (B, T, H)
};

/// Computes the stabilizer m_t = max(log f_t + m_(t-1), i_t). It cancels in the result, so it
/// passes no gradient. `last` (B, H), or empty for 0, holds m before the first token and receives
/// that of the last one. log_forget, input (B, T, H) -> (B, T, H)
StableGates stable_gates(const Var& log_forget, const Var& input, std::vector<double>& last) {
  const std::size_t B = input.dim(0), T = input.dim(1), H = input.dim(2);
  Tensor m = uninitialized(input.shape()), lag = uninitialized(input.shape());
  last.resize(B * H);
  for (std::size_t i = 0; i < B * T * H; ++i) {
    double& at = last[i / (T * H) * H + i % H];
    const double kept = double(log_forget.data()[i]) + at, now = double(input.data()[i]);
    m.data()[i] = real(std::max(kept, now));
    lag.data()[i] = real(at - double(m.data()[i]));  // before forgetting
    at = m.data()[i];
  }
  Tensor min_divisor = xt::exp(-m);  // above 0: it may divide empty sums
  update(min_divisor, [](real x) { return std::max(x, std::numeric_limits<real>::min()); });
  return {-(log_forget + Var(lag)), input - Var(m), Var(std::move(min_divisor))};
}

/// One direction: C_t = f C + i v k^T, n_t = f n + i k, h = C q / max(|n . q|, 1), with exponential
/// input gates and sigmoid forget gates per head. Beck et al., "xLSTM", 2024.
class MlstmDirection : public Module {
 public:
  explicit MlstmDirection(const MixerSpec& spec)
      : heads_(spec.heads),
        chunk_(spec.chunk),
        projections_(spec),
        input_gate_({spec.width, spec.heads}),
        input_bias_({spec.heads}, Initial::normal(0.1)),
        forget_gate_({spec.width, spec.heads}),
        forget_bias_({spec.heads}),
        output_gate_(spec.width, spec.width) {
    for (std::size_t h = 0; h < heads_; ++h)
      forget_bias_.value().data()[h] =
          real(heads_ > 1 ? 3 + 3 * double(h) / double(heads_ - 1) : 3);
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) {
    std::vector<double> none;
    Normed rows(x);
    const Inputs inputs = inputs_of(tape, x, projections_.split(tape, rows, layout), none);
    const Var sums = linear_attention({inputs.q}, {inputs.k}, inputs.v, inputs.gates.rate,
                                      {true, chunk_, layout.lengths, unnormalized});
    return outputs(tape, x, sums * double(unnormalized), inputs.gates.min_divisor);
  }

  Var step(Tape& tape, const Var& x, MlstmState& past) {
    Normed rows(x);
    const Heads heads = projections_.split(tape, rows, past);
    const Inputs inputs = inputs_of(tape, x, heads, past.log_scale);
    if (!past.sums) past.sums.emplace(x.dim(0) * heads_, inputs.k.dim(3), inputs.v.dim(3));
    Tensor sums = linear_attention_step(*past.sums, {inputs.q}, {inputs.k}, inputs.v,
                                        &inputs.gates.rate.value(), unnormalized);
    return outputs(tape, x, tape.constant(std::move(sums)) * double(unnormalized),
                   inputs.gates.min_divisor);
  }

  void visit(Visitor& visitor) override {
    projections_.visit(visitor);
    visitor("input_gate", input_gate_);
    visitor("input_bias", input_bias_);
    visitor("forget_gate", forget_gate_);
    visitor("forget_bias", forget_bias_);
    visitor("output_gate", output_gate_);
  }

 private:
  /// Inputs of linear attention: keys times input gates, values followed by a one.
  struct Inputs {
    Var q, k, v;
    StableGates gates;
  };
  Inputs inputs_of(Tape& tape, const Var& x, const Heads& heads, std::vector<double>& before) {
    const Shape each{x.dim(0), x.dim(1), heads_, 1};
    const Var input = affine(x, tape(input_gate_), tape(input_bias_));
    const Var forget = affine(x, tape(forget_gate_), tape(forget_bias_));
    const StableGates gates = stable_gates(-softplus(-forget), input, before);
    return {heads.q / std::sqrt(double(heads.q.dim(3))),
            heads.k * reshape(exp(gates.log_input), each),
            concat({heads.v, Var(filled(each, real(1)))}, 3), gates};
  }

  /// Divides, norms and gates sums (B, T, H, d + 1) of values and of weights.
  Var outputs(Tape& tape, const Var& x, const Var& sums, const Var& min_divisor) {
    const std::size_t d = sums.dim(3) - 1;
    const Var divisor = maximum(abs(slice(sums, 3, d, d + 1)),
                                reshape(min_divisor, {x.dim(0), x.dim(1), heads_, 1}));
    const Var h = normed_heads(slice(sums, 3, 0, d) / divisor);
    const Var gate = sigmoid(output_gate_.forward(tape, x, h.shape()));
    return projections_.join(tape, h * gate);
  }

  std::size_t heads_, chunk_;
  Projections projections_;
  Parameter input_gate_, input_bias_, forget_gate_, forget_bias_;
  Linear output_gate_;
};

/// Matrix memories with exponential gates; two directions are summed.
class MlstmMixer : public Mixer {
 public:
  explicit MlstmMixer(const MixerSpec& spec) {
    require_traits(spec);
    for (int direction = 0; direction < (spec.causal ? 1 : 2); ++direction)
      directions_.push_back(std::make_unique<MlstmDirection>(spec));
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_equal_distances(layout.regular(), "mlstm");
    const Var past = directions_[0]->forward(tape, x, layout);
    if (directions_.size() == 1) return past;
    const Var future =
        directions_[1]->forward(tape, reversed_sequences(x, layout.lengths), {layout.lengths});
    return past + reversed_sequences(future, layout.lengths);
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<MlstmState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(directions_.size() == 1, "mlstm");
    require_equal_distances(state.gap == 1, "mlstm");
    return directions_[0]->step(tape, x, static_cast<MlstmState&>(state));
  }

  void visit(Visitor& visitor) override { visitor("directions", directions_); }

 private:
  std::vector<std::unique_ptr<MlstmDirection>> directions_;
};

}  // namespace

void add_mlstm(Mixers& all) {
  all.add("mlstm", make<MlstmMixer>,
          {.heads = true,
           .queries = true,
           .normalize = true,
           .convolution = true,
           .carries = true,
           .features = false});
}

}  // namespace bochner::inline BOCHNER_PRECISION
