#include <bochner/autodiff/cross_shard_reduction.hpp>
#include <bochner/autodiff/ops.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/layers/basic/position_wise.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Linear::Linear(std::size_t in, std::size_t out)
    : weight_({in, out}, Initial::uniform(1 / std::sqrt(double(in)))),
      bias_({out}, Initial::uniform(1 / std::sqrt(double(in)))) {}

void Linear::shift_bias(double by) {
  update(bias_.value(), [by](real b) { return b + real(by); });
}

MLP::MLP(std::size_t width, std::size_t hidden, const std::string& kind)
    : gated_(kind == "swiglu"), up_(width, gated_ ? 2 * hidden : hidden), down_(hidden, width) {
  require(gated_ || kind == "gelu", "mlp", "no MLP is called \"", kind,
          "\"; there are: gelu, swiglu");
}

Var MLP::hidden(Tape& tape, const Var& x) {
  return gated_ ? swiglu(up_.forward(tape, x)) : up_.forward_gelu(tape, x);
}

Var MLP::forward_residual(Tape& tape, const Var& x, Norm& norm,
                          const std::vector<std::size_t>& lengths) {
  const auto row_norm = norm.row_norm(tape);
  if (!row_norm || gated_)
    return down_.forward_add(tape, x, hidden(tape, norm.forward(tape, x, lengths)));
  return feed_forward(x, *row_norm,
                      {up_.weight(tape), up_.bias(tape), down_.weight(tape), down_.bias(tape)});
}

Var GatedOutput::forward(Tape& tape, const Var& x) { return glu(linear_.forward(tape, gelu(x))); }

Var Norm::forward(Tape& tape, const Var& x, const std::vector<std::size_t>&) {
  const auto norm = row_norm(tape);
  require(norm.has_value(), "norm", "override row_norm() or forward()");
  return norm->apply(x);
}

LayerNorm::LayerNorm(std::size_t width) : gain_(filled({width}, real(1))), bias_({width}) {}

std::vector<Var> Normed::forward(Tape& tape, const std::vector<Linear*>& linear,
                                 const Shape& shape) {
  const auto row_norm = norm_ && !normalized_.exists() ? norm_->row_norm(tape) : std::nullopt;
  if (row_norm) {
    std::vector<LinearMap> maps;
    for (Linear* each : linear) maps.push_back({each->weight(tape), each->bias(tape)});
    return normed_affines(x_, *row_norm, maps, shape);
  }
  std::vector<Var> y;
  for (Linear* each : linear) y.push_back(each->forward(tape, rows(tape), shape));
  return y;
}

RMSNorm::RMSNorm(std::size_t width) : gain_(filled({width}, real(1))) {}

std::optional<RowNorm> RMSNorm::row_norm(Tape& tape) {
  return RowNorm{tape(gain_), Var(), real(1e-6)};
}

void RMSNorm::visit(Visitor& visitor) { visitor("gain", gain_); }

BatchNorm::BatchNorm(std::size_t width, double momentum)
    : momentum_(momentum),
      gain_(filled({width}, real(1))),
      bias_({width}),
      mean_(zeros({width})),
      variance_(filled({width}, real(1))) {
  require(momentum >= 0 && momentum < 1, "batch_norm", "the momentum must be in [0, 1), not ",
          momentum);
}

Var BatchNorm::forward(Tape& tape, const Var& x, const std::vector<std::size_t>& lengths) {
  if (tape.training) {
    const bool updates_running_stats = !tape.reduction || tape.reduction->updates_running_stats();
    return batch_norm(x, tape(gain_), tape(bias_), lengths,
                      [this, updates_running_stats](const BatchMoments& moments) {
                        if (updates_running_stats) update_running_stats(moments);
                      });
  }
  Tensor rstd = uninitialized(variance_.shape());
  for (std::size_t j = 0; j < rstd.size(); ++j)
    rstd.data()[j] = 1 / std::sqrt(variance_.data()[j] + real(1e-5));
  return (x - tape.constant(mean_)) * (tape(gain_) * tape.constant(std::move(rstd))) + tape(bias_);
}

void BatchNorm::update_running_stats(const BatchMoments& moments) {
  if (moments.tokens < 2) return;
  const double unbiased = double(moments.tokens) / double(moments.tokens - 1);
  const auto average = [this](real& running, double now) {
    running = real(momentum_ * double(running) + (1 - momentum_) * now);
  };
  for (std::size_t j = 0; j < mean_.size(); ++j) {
    average(mean_.data()[j], moments.mean[j]);
    average(variance_.data()[j], moments.variance[j] * unbiased);
  }
}

Norms& norms() {
  static Norms registry = [] {
    Norms all("norm", {});
    all.add("layer", [](const NormSpec& spec) { return std::make_unique<LayerNorm>(spec.width); });
    all.add("rms", [](const NormSpec& spec) { return std::make_unique<RMSNorm>(spec.width); });
    all.add(
        "batch",
        [](const NormSpec& spec) { return std::make_unique<BatchNorm>(spec.width, spec.momentum); },
        {.crosses_tokens = true});
    return std::move(all).built_in();
  }();
  return registry;
}

Var FeedForward::forward_residual(Tape& tape, const Var& x, Norm& norm,
                                  const std::vector<std::size_t>& lengths) {
  return x + forward(tape, norm.forward(tape, x, lengths));
}

FeedForwards& mlps() {
  static FeedForwards registry = [] {
    FeedForwards all("mlp", {});
    for (const char* kind : {"gelu", "swiglu"})
      all.add(kind, [kind](const FeedForwardSpec& spec) {
        return std::make_unique<MLP>(spec.width, spec.hidden, kind);
      });
    return std::move(all).built_in();
  }();
  return registry;
}

Dropout::Dropout(double rate) : rate_(real(rate)) {
  require(rate >= 0 && rate < 1, "dropout", "the rate must be in [0, 1), not ", rate);
}

Var Dropout::forward(Tape& tape, const Var& x) const { return dropout(tape, x, rate_); }

Var StochasticDepth::forward(Tape& tape, const Var& x) const {
  if (!acts(tape)) return x;
  const RandomFunction random = tape.next_random(Purpose::dropout);
  Shape shape(x.rank(), 1);
  shape[0] = x.dim(0);
  Tensor factors = uninitialized(shape);
  for (std::size_t b = 0; b < shape[0]; ++b)
    factors.data()[b] = real(random.uniform(b) < rate_ ? 0 : 1 / (1 - rate_));
  return x * Var(std::move(factors));
}

}  // namespace bochner::inline BOCHNER_PRECISION
