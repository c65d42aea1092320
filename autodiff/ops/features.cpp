#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/feature_products.hpp>
#include <bochner/autodiff/ops/features.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>

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

namespace {

/// a (B, T, H, G, n), b (B, T, H, G, m) -> (B, T, H, G, n m): products, or sums of logarithms.
Var all_products(const Var& a, const Var& b, FeatureScale scale) {
  if (scale == FeatureScale::linear) return feature_product(a, b);
  const std::size_t B = a.dim(0), T = a.dim(1), H = a.dim(2), G = a.dim(3);
  const std::size_t n = a.dim(4), m = b.dim(4);
  return reshape(reshape(a, {B, T, H, G, n, 1}) + reshape(b, {B, T, H, G, 1, m}),
                 {B, T, H, G, n * m});
}

}  // namespace

Features product_features(const Var& c, Features base) {
  const Shape tokens = base.shape();
  require(c.rank() == 5 && std::equal(c.shape().begin(), c.shape().begin() + 3, tokens.begin()) &&
              c.dim(3) > 0 && tokens[3] % c.dim(3) == 0,
          "product_features", "coefficients must be (B, T, H, G, S), G dividing the features: c ",
          c.shape(), ", features ", tokens);
  if (!base.are_products()) {
    base.coefficients = c;
    return base;
  }
  const Var& inner = base.coefficients;
  require(c.dim(3) == 1, "product_features", "products of products have one group: c ", c.shape());
  Shape each = inner.shape();
  each.back() = c.dim(4);
  base.coefficients = all_products(inner, broadcast_to(c, each), base.scale);
  return base;
}

Shape Features::shape() const {
  Shape shape = tokens.shape();
  if (are_exponential()) shape.back() = frequencies.dim(1);
  if (are_products()) shape.back() *= coefficients.dim(4);
  return shape;
}

Features Features::base() const {
  Features base = *this;
  base.coefficients = Var();
  return base;
}

Var Features::values() const {
  if (are_products()) {
    const Var& c = coefficients;
    const Var each = base().values();
    const std::size_t B = c.dim(0), T = c.dim(1), H = c.dim(2), G = c.dim(3);
    const Var groups = reshape(each, {B, T, H, G, each.dim(3) / G});
    return reshape(all_products(c, groups, scale), shape());
  }
  if (!are_exponential()) return tokens;
  Var logarithms = project_heads(tokens, frequencies);
  if (offset.exists()) logarithms = logarithms + offset;
  if (log_factor != 0) logarithms = shift(logarithms, log_factor);
  return norm == 0 ? logarithms : logarithms - norm * sum(square(tokens), -1, keep);
}

}  // namespace bochner::inline BOCHNER_PRECISION
