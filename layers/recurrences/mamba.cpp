#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/recurrence/recurrence.hpp>
#include <bochner/layers/attention/projections.hpp>
#include <bochner/layers/mixers/mixers.hpp>
#include <bochner/layers/recurrences/recurrent_specs.hpp>
#include <bochner/layers/recurrences/step_sizes.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Mamba: h_t = exp(-a dt_t) h_(t-1) + dt_t b_t x_t with N real states and a step dt = softplus(..)
/// for each channel, y_t = c_t . h_t + skip x_t, times silu(gate); b and c are shared by the
/// channels. x = silu of a short convolution. Non-causal models add a scan from the last token. Gu
/// and Dao, "Mamba", 2023.
class MambaMixer : public Mixer {
 public:
  MambaMixer(const MixerSpec& spec, const MambaSpec& own)
      : causal_(spec.causal),
        inner_(own.expansion * spec.width),
        states_(own.states),
        rank_(own.rank > 0 ? own.rank : (spec.width + 15) / 16),
        input_(spec.width, 2 * inner_),
        convolution_(own.convolution, inner_, ConvolutionInit::mixing),
        selection_(inner_, rank_ + 2 * states_),
        step_size_({rank_, inner_}, Initial::uniform(1 / std::sqrt(double(rank_)))),
        step_bias_({inner_}),
        log_rate_({states_, inner_}),
        skip_(filled({inner_}, real(1))),
        output_(inner_, spec.width) {
    require_traits(spec);
    start_steps();
  }

  Var forward(Tape& tape, const Var& x, const Layout& layout) override {
    require_equal_distances(layout.regular(), "mamba");
    const Inputs in = inputs(tape, x, nullptr);
    Var y = scan(in, {false, layout.lengths});
    if (!causal_) y = y + scan(in, {true, layout.lengths});
    return outputs(tape, in, y);
  }

  std::unique_ptr<MixerState> start() const override { return std::make_unique<TensorState>(); }

  Var step(Tape& tape, const Var& x, MixerState& state) override {
    require_causal_step(causal_, "mamba");
    require_equal_distances(state.gap == 1, "mamba");
    auto& past = static_cast<TensorState&>(state);
    ++past.position;
    past.recent.resize(1);
    if (past.values.dimension() == 0) past.values = zeros({x.dim(0), states_, inner_});
    const Inputs in = inputs(tape, x, &past.recent[0]);
    const auto token = [](const Var& y) { return reshape(y, {y.dim(0), y.dim(2)}).value(); };
    Tensor y = selective_scan_step(past.values, token(in.x), token(in.step), in.rate.value(),
                                   token(in.b), token(in.c));
    y.reshape(in.x.shape());
    return outputs(tape, in, tape.constant(std::move(y)));
  }

  void visit(Visitor& visitor) override {
    visitor("input", input_);
    visitor("convolution", convolution_);
    visitor("selection", selection_);
    visitor("step_size", step_size_);
    visitor("step_bias", step_bias_);
    visitor("spectrum.log_rate", log_rate_);
    visitor("skip", skip_);
    visitor("output", output_);
  }

 private:
  /// Sets initial steps, geometric from 0.001 to 0.1 over the channels, and rates 1 .. N.
  void start_steps() {
    step_bias_.assign(geometric_step_biases(inner_));
    for (std::size_t n = 0; n < states_; ++n)
      std::fill_n(&log_rate_.value()(n, 0), inner_, real(std::log(double(n + 1))));
  }

  /// Gate, x and steps (B, T, D'), rates (N, D'), b and c (B, T, N).
  struct Inputs {
    Var gate, x, step, rate, b, c;
  };
  Inputs inputs(Tape& tape, const Var& x, Tensor* recent) {
    const std::vector<Var> in = split(input_.forward(tape, x), -1, {inner_, inner_});
    const Var mixed = silu(convolution_.forward(tape, in[1], recent));
    const std::vector<Var> selected =
        split(selection_.forward(tape, mixed), -1, {rank_, states_, states_});
    const Var step = softplus(affine(selected[0], tape(step_size_), tape(step_bias_)));
    return {in[0], mixed, step, exp(tape(log_rate_)), selected[1], selected[2]};
  }

  static Var scan(const Inputs& in, const ScanOptions& options) {
    return selective_scan(in.x, in.step, in.rate, in.b, in.c, options);
  }

  Var outputs(Tape& tape, const Inputs& in, const Var& y) {
    return output_.forward(tape, (y + tape(skip_) * in.x) * silu(in.gate));
  }

  bool causal_;
  std::size_t inner_, states_, rank_;
  Linear input_;  // gate, x
  ShortConvolution convolution_;
  Linear selection_;  // steps, b, c
  Parameter step_size_, step_bias_, log_rate_, skip_;
  Linear output_;
};

}  // namespace

void add_mamba(Mixers& all) {
  all.add("mamba", make<MambaMixer, MambaSpec>, {.carries = true, .features = false});
}

}  // namespace bochner::inline BOCHNER_PRECISION
