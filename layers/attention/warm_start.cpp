#include <algorithm>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/layers/attention/warm_start.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns whether the map's kernel, if known, is that of softmax attention, judged by the ratio of
/// the weights of two keys, of equal length if normalized.
bool estimates_softmax_kernel(const FeatureMap& map, std::size_t d, bool normalized) {
  std::vector<double> q(d), near(d), far(d);
  q[0] = 0.75, near[0] = 0.75, far[0] = normalized ? -0.75 : -1.5;
  const auto to_near = map.kernel(q, near), to_far = map.kernel(q, far);
  if (!to_near || !to_far) return true;
  const double wanted = std::exp(q[0] * (near[0] - far[0]) / std::sqrt(double(d)));
  return std::abs(*to_near / *to_far / wanted - 1) < 1e-9;
}

Var detached(Tape& tape, const Var& x) {
  return x.exists() ? Var(x.shared_value(), nullptr, &tape) : x;
}

}  // namespace

WarmStart::WarmStart(const MixerSpec& spec, const FeatureMap& map)
    : passes_(spec.warm == "exact" ? spec.warm_steps : 0), causal_(spec.causal) {
  require(spec.warm == "none" || spec.warm == "exact", "mixer", "warm = \"", spec.warm,
          "\" must be none or exact");
  if (passes_ == 0) return;
  require(estimates_softmax_kernel(map, spec.width / spec.heads, spec.normalize == "l2"), "mixer",
          "warm = \"exact\" teaches the softmax kernel, but ", spec.features.kind,
          " estimates another one; set warm = \"none\" or use positive, hyperbolic ..");
  const std::string& time = spec.time_kernel.kind;
  require(time != "rotation" && time != "spectral", "mixer",
          "warm = \"exact\" does not support time kernel ", time, "; use none, decay or gate");
  require(spec.time_kernel.per == "head" && (spec.causal || time == "none"), "mixer",
          "warm = \"exact\" requires a time kernel per head in a causal model; set warm = \"none\" "
          "or time_kernel.per = \"head\"");
  require(spec.denominator.kind != "norm", "mixer",
          "warm = \"exact\" divides by the sum of weights; denominator.kind must not be \"norm\"");
}

Var WarmStart::forward(
    Tape& tape, const Heads& heads, const Var& rate, const Layout& layout,
    const std::function<Var(const Heads& heads, const Var& rate)>& estimate) const {
  const Var exact = softmax_attention(heads.q, heads.k, heads.v, rate, causal_, layout.lengths);
  if (!tape.recording && !tape.holding) return exact;
  const Heads seen = {detached(tape, heads.q), detached(tape, heads.k), detached(tape, heads.v)};
  const Var error = mean_squared_error(estimate(seen, detached(tape, rate)), exact.value());
  const double size = sum_of_squares(exact.data(), exact.size()) / double(exact.size());
  const double smallest = std::numeric_limits<real>::min();
  tape.add_loss(scale(error, real(1 / std::max(size, smallest))));
  return exact;
}

}  // namespace bochner::inline BOCHNER_PRECISION
