#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/layers/attention/mixers.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// All keys and values so far, (position, H, d) each: exact attention needs its whole past.
struct SoftmaxState : MixerState {
  std::vector<real> keys, values;
};

/// One query of one head against n keys; `weights` is scratch for n numbers. -> y (d)
void attend(const real* q, const real* keys, const real* values, std::size_t n, std::size_t stride,
            std::size_t d, real rate, std::vector<real>& weights, real* y) {
  const real scale = 1 / std::sqrt(real(d));
  for (std::size_t j = 0; j < n; ++j) {
    weights[j] = scale * dot_row(q, keys + j * stride, d) - rate * real(n - 1 - j);
  }
  const real top = max_row(weights.data(), n);
  for (std::size_t j = 0; j < n; ++j) weights[j] = math::exp(weights[j] - top);
  const real total = sum_row(weights.data(), n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t e = 0; e < d; ++e) y[e] += weights[j] / total * values[j * stride + e];
  }
}

}  // namespace

SoftmaxMixer::SoftmaxMixer(const MixerSpec& spec)
    : causal_(spec.causal),
      projections_(spec),
      time_kernel_(spec.time_kernel, spec.heads, spec.width) {
  const std::string& kernel = spec.time_kernel.kind;
  require(kernel != "rotation" && kernel != "gate", "softmax", "time kernel ", kernel,
          " is for linear attention; exact attention has: none, decay");
}

void SoftmaxMixer::require_regular(bool regular) const {
  require(regular || !time_kernel_.active(), "softmax",
          "the time kernel of exact attention needs tokens at equal distances; for irregular time "
          "stamps choose linear attention or an encoding of time");
}

Var SoftmaxMixer::forward(Tape& tape, const Var& x, const Layout& layout) {
  require_regular(layout.regular());
  const auto [q, k, v] = projections_.split(tape, x, layout);
  const Var rate = time_kernel_.rate(tape, x);
  show_attention(tape, *this, {q, k, rate, Var(), Var(), causal_});
  return projections_.join(tape, softmax_attention(q, k, v, rate, causal_, layout.lengths));
}

std::unique_ptr<MixerState> SoftmaxMixer::start() const { return std::make_unique<SoftmaxState>(); }

Var SoftmaxMixer::step(Tape& tape, const Var& x, MixerState& state) {
  require(causal_, "softmax", "only causal attention can be computed token by token");
  auto& past = static_cast<SoftmaxState&>(state);
  require_regular(past.gap == 1);
  const auto [q, k, v] = projections_.split(tape, x, past);
  past.keys.insert(past.keys.end(), k.data(), k.data() + k.size());
  past.values.insert(past.values.end(), v.data(), v.data() + v.size());
  const std::size_t n = past.position, H = q.dim(2), d = q.dim(3);
  const Var rate = time_kernel_.rate(tape, x);
  Tensor y = zeros(q.shape());
  std::vector<real> weights(n);
  for (std::size_t h = 0; h < H; ++h) {
    attend(q.data() + h * d, past.keys.data() + h * d, past.values.data() + h * d, n, H * d, d,
           rate.exists() ? rate.data()[h] : real(0), weights, y.data() + h * d);
  }
  return projections_.join(tape, tape.constant(std::move(y)));
}

void SoftmaxMixer::visit(Visitor& visitor) {
  projections_.visit(visitor);
  visitor("time_kernel", time_kernel_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
