#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/basic/instance_norm.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Added to the variance of a window, in the unit of the training data.
constexpr double epsilon = 1e-5;

}  // namespace

InstanceNorm::InstanceNorm(const InstanceNormSpec& spec, std::size_t variates)
    : spec_(spec), gain_(filled({variates, 1}, real(1))), bias_({variates, 1}) {
  require(spec.kind == "none" || spec.kind == "last" || spec.kind == "mean" || spec.kind == "revin",
          "instance_norm", "no kind is called \"", spec.kind,
          "\"; there are: none, last, mean, revin");
}

InstanceNorm::Unit InstanceNorm::unit_of(const Var& window) const {
  Unit unit;
  if (spec_.kind == "last") unit.center = slice(window, -1, window.dim(-1) - 1, window.dim(-1));
  if (spec_.kind == "mean" || spec_.kind == "revin") unit.center = mean(window, {-1}, keep);
  if (spec_.kind == "revin") unit.deviation = sqrt(variance(window, {-1}, keep) + epsilon);
  return unit;
}

Var InstanceNorm::apply(Tape& tape, const Var& x, const Unit& unit) {
  Var y = unit.center.exists() ? x - unit.center : x;
  if (unit.deviation.exists()) y = y / unit.deviation;
  return spec_.affine ? y * tape(gain_) + tape(bias_) : y;
}

Var InstanceNorm::undo(Tape& tape, const Var& x, const Unit& unit) {
  Var y = spec_.affine ? (x - tape(bias_)) / tape(gain_) : x;
  if (unit.deviation.exists()) y = y * unit.deviation;
  return unit.center.exists() ? y + unit.center : y;
}

void InstanceNorm::visit(Visitor& visitor) {
  if (!spec_.affine) return;
  visitor("gain", gain_);
  visitor("bias", bias_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
