#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/features.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/reduce.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Features exponential_features(const Var& x, const Var& w, real norm, const Var& offset) {
  require(x.rank() == 4 && w.rank() == 3 && w.dim(0) == x.dim(2) && w.dim(2) == x.dim(3),
          "exponential_features", "w must be (H, F, d) for x (B, T, H, d): w ", w.shape(), ", x ",
          x.shape());
  require(!offset.exists() || offset.shape() == Shape{w.dim(0), w.dim(1)}, "exponential_features",
          "one offset per feature: offset ", offset.exists() ? offset.shape() : Shape{}, ", w ",
          w.shape());
  Features features = from_logarithms(x);
  features.frequencies = w;
  features.offset = offset;
  features.norm = norm;
  return features;
}

Shape Features::shape() const {
  Shape shape = tokens.shape();
  if (!are_stored()) shape.back() = frequencies.dim(1);
  return shape;
}

Var Features::values() const {
  if (are_stored()) return tokens;
  Var logarithms = project_heads(tokens, frequencies);
  if (offset.exists()) logarithms = logarithms + offset;
  if (log_factor != 0) logarithms = shift(logarithms, log_factor);
  return norm == 0 ? logarithms : logarithms - norm * sum(square(tokens), -1, keep);
}

}  // namespace bochner::inline BOCHNER_PRECISION
