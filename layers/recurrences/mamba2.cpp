#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/layers/attention/feature_heads.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <bochner/layers/recurrences/step_sizes.hpp>
#include <cmath>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct Mamba2State : MixerState {
  std::optional<LinearAttentionState> sums;
};

/// Mamba-2: S_t = exp(-a dt_t) S_(t-1) + b_t (dt_t x_t)^T, y_t = S_t^T c_t + skip x_t per head,
/// with one rate a and step dt = softplus(..) for each head; x, b, c = silu of a short convolution;
/// then RMS norm of y silu(gate) and a linear map. Linear attention with queries c, keys b and
/// values dt x, without its denominator. Non-causal models add a pass over the reversed tokens. Dao
/// and Gu, "Transformers are SSMs", 2024.
class Mamba2Mixer : public Mixer {
 public:
  Mamba2Mixer(const MixerSpec& spec, const Mamba2Spec& own)
      : causal_(spec.causal),
        heads_(spec.heads),
        chunk_(spec.chunk),
        inner_(own.expansion * spec.width),
        states_(own.states),
        input_(spec.width, 2 * inner_ + 2 * states_),
        convolution_(own.convolution, inner_ + 2 * states_, ConvolutionInit::mixing),
        step_size_({spec.width, heads_}, Initial::uniform(1 / std::sqrt(double(spec.width)))),
        step_bias_({heads_}),
        log_rate_({heads_}),
        skip_(filled({heads_}, real(1))),
        norm_(inner_),
        output_(inner_, spec.width) {
    require_heads(spec);
    require_traits(spec);
    start_steps();
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_equal_distances(layout.regular(), "mamba2");
    const Projected in = projected(tape, x, nullptr);
    const Parts now = parts(tape, in.mixed, in.step);
    Var y = sums(now, layout.lengths);
    if (!causal_) {
      const Parts later = parts(tape, reversed_sequences(in.mixed, layout.lengths),
                                reversed_sequences(in.step, layout.lengths));
      const Var back = reshape(sums(later, layout.lengths), {x.dim(0), x.dim(1), inner_});
      y = y + reshape(reversed_sequences(back, layout.lengths), y.shape());
    }
    return outputs(tape, in, now, y);
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<Mamba2State>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "mamba2");
    require_equal_distances(state.gap == 1, "mamba2");
    auto& past = static_cast<Mamba2State&>(state);
    ++past.position;
    past.recent.resize(1);
    const Projected in = projected(tape, x, &past.recent[0]);
    const Parts now = parts(tape, in.mixed, in.step);
    if (!past.sums) past.sums.emplace(x.dim(0) * heads_, states_, inner_ / heads_);
    Tensor y = linear_attention_step(*past.sums, {now.c}, {now.b}, now.written, &now.rate.value(),
                                     unnormalized);
    return outputs(tape, in, now, tape.constant(std::move(y)) * double(unnormalized));
  }

  void visit(Visitor& visitor) override {
    visitor("input", input_);
    visitor("convolution", convolution_);
    visitor("step_size", step_size_);
    visitor("step_bias", step_bias_);
    visitor("log_rate", log_rate_);
    visitor("skip", skip_);
    visitor("norm", norm_);
    visitor("output", output_);
  }

 private:
  /// Sets initial steps, geometric from 0.001 to 0.1 over the heads, and rates from 1 to 16: time
  /// constants from 1,000 tokens to less than one.
  void start_steps() {
    step_bias_.assign(geometric_step_biases(heads_));
    for (std::size_t h = 0; h < heads_; ++h)
      log_rate_.value().data()[h] = real(std::log(1 + 15 * share_of_place(h, heads_)));
  }

  /// Gate (B, T, D'), convolved x, b and c (B, T, D' + 2N), and steps (B, T, H).
  struct Projected {
    Var gate, mixed, step;
  };
  Projected projected(Tape& tape, const Var& x, Tensor* recent) {
    const std::vector<Var> in = split(input_.forward(tape, x), -1, {inner_, inner_ + 2 * states_});
    return {in[0], silu(convolution_.forward(tape, in[1], recent)),
            softplus(affine(x, tape(step_size_), tape(step_bias_)))};
  }

  /// Inputs of linear attention: x, written = dt x (B, T, H, D' / H), b, c (B, T, H, N), rate (B,
  /// T, H).
  struct Parts {
    Var x, written, b, c, rate;
  };
  Parts parts(Tape& tape, const Var& mixed, const Var& step) {
    const std::size_t B = mixed.dim(0), T = mixed.dim(1);
    const std::vector<Var> all = split(mixed, -1, {inner_, states_, states_});
    const auto shared = [&](const Var& y) {
      return broadcast_to(reshape(y, {B, T, 1, states_}), {B, T, heads_, states_});
    };
    const Var x = reshape(all[0], {B, T, heads_, inner_ / heads_});
    return {x, reshape(step, {B, T, heads_, 1}) * x, shared(all[1]), shared(all[2]),
            exp(tape(log_rate_)) * step};
  }

  Var sums(const Parts& in, const std::vector<std::size_t>& lengths) const {
    return linear_attention({in.c}, {in.b}, in.written, in.rate,
                            {true, chunk_, lengths, unnormalized}) *
           double(unnormalized);
  }

  Var outputs(Tape& tape, const Projected& in, const Parts& now, const Var& sums) {
    const Var y = reshape(sums + reshape(tape(skip_), {heads_, 1}) * now.x, in.gate.shape());
    return output_.forward(tape, norm_.forward(tape, y * silu(in.gate)));
  }

  bool causal_;
  std::size_t heads_, chunk_, inner_, states_;
  Linear input_;  // gate, x, b, c
  ShortConvolution convolution_;
  Parameter step_size_, step_bias_, log_rate_, skip_;
  RMSNorm norm_;
  Linear output_;
};

}  // namespace

void add_mamba2(Mixers& all) {
  all.add("mamba2", make<Mamba2Mixer, Mamba2Spec>,
          {.heads = true, .carries = true, .features = false});
}

}  // namespace bochner::inline BOCHNER_PRECISION
