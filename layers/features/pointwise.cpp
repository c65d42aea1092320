#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/exponents.hpp>
#include <bochner/layers/features/pointwise.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// (H, m, d), so that elements of W x have the size of those of x.
Parameter head_weights(const FeatureSpec& spec) {
  return Parameter({spec.heads, spec.m, spec.dim},
                   Initial::normal(1 / std::sqrt(double(spec.dim))));
}

/// x[.., (i - by) mod n]
Var rolled(const Var& x, std::size_t by) {
  const std::size_t n = x.dim(-1), cut = n - by % n;
  return concat({slice(x, -1, cut, n), slice(x, -1, 0, cut)}, -1);
}

/// Waves at positions first, first + 1, ...: (T, 1, 1)
Var waves(std::size_t T, std::size_t first, std::size_t length, bool sine) {
  Tensor x = uninitialized({T, 1, 1});
  for (std::size_t t = 0; t < T; ++t) {
    const double angle = std::numbers::pi / 2 * double(first + t) / double(length);
    x.data()[t] = real(sine ? std::sin(angle) : std::cos(angle));
  }
  return Var(std::move(x));
}

}  // namespace

Features ReluFeatures::features(Tape&, const Var& x) { return relu(x) + 1e-3; }

Features SquaredReluFeatures::features(Tape&, const Var& x) { return square(relu(x)); }

EluFeatures::EluFeatures(const FeatureSpec& spec) : weight_(head_weights(spec)) {}

Features EluFeatures::features(Tape& tape, const Var& x) {
  const Var u = project_heads(x, tape(weight_));
  // elu(u) + 1 without its cancellation far below 0.
  return relu(u) + exp(minimum(u, Var(zeros({1}))));
}

T2RFeatures::T2RFeatures(const FeatureSpec& spec)
    : weight_(head_weights(spec)), bias_({spec.heads, spec.m}) {}

Features T2RFeatures::features(Tape& tape, const Var& x) {
  return relu(project_heads(x, tape(weight_)) + tape(bias_));
}

void T2RFeatures::visit(Visitor& visitor) {
  visitor("weight", weight_);
  visitor("bias", bias_);
}

HedgehogFeatures::HedgehogFeatures(const FeatureSpec& spec) : weight_(head_weights(spec)) {}

Features HedgehogFeatures::features(Tape& tape, const Var& x) {
  const Var projected = project_heads(x, tape(weight_));
  return concat({softmax(projected), softmax(-projected)}, -1);
}

Features TaylorFeatures::features(Tape&, const Var& x) {
  const Var y = softmax_scaled(x);
  Shape one = x.shape();
  one.back() = 1;
  return concat({filled(one, real(1)), y, packed_square(y)}, -1);
}

std::optional<double> TaylorFeatures::kernel(Point q, Point k, std::size_t) const {
  const double s = ScaledPair(q, k).xy;
  return 1 + s + s * s / 2;
}

std::optional<double> TaylorFeatures::variance(Point, Point, std::size_t) const { return 0; }

RebasedFeatures::RebasedFeatures(const FeatureSpec& spec)
    : gain_(filled({spec.heads, spec.dim}, real(1))), bias_({spec.heads, spec.dim}) {}

Features RebasedFeatures::features(Tape& tape, const Var& x) {
  const std::size_t d = x.dim(-1);
  const Var normal = layer_norm(x, filled({d}, real(1)), zeros({d}));
  return packed_square(softmax_scaled(normal * tape(gain_) + tape(bias_)));
}

void RebasedFeatures::visit(Visitor& visitor) {
  visitor("gain", gain_);
  visitor("bias", bias_);
}

DpfpFeatures::DpfpFeatures(const FeatureSpec& spec) : rolls_(spec.rolls) {
  require(rolls_ > 0 && rolls_ < 2 * spec.dim, "dpfp", "rolls = ", rolls_,
          ": must be at least 1 and below ", 2 * spec.dim);
}

Features DpfpFeatures::features(Tape&, const Var& x) {
  const Var positive = concat({relu(x), relu(-x)}, -1);
  std::vector<Var> parts;
  for (std::size_t by = 1; by <= rolls_; ++by) parts.push_back(positive * rolled(positive, by));
  return concat(parts, -1);
}

Features CosformerFeatures::side(Tape&, const Var& x, Side, std::size_t first) {
  const std::size_t T = x.dim(1);
  require(first + T <= length_, "cosformer", "position ", first + T - 1,
          " is beyond its length = ", length_, "; raise model.mixer.features.length");
  const Var positive = relu(x);
  return concat(
      {positive * waves(T, first, length_, false), positive * waves(T, first, length_, true)}, -1);
}

}  // namespace bochner::inline BOCHNER_PRECISION
