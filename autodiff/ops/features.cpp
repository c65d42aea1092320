#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/features.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {

Features exponential_features(const Var& x, const Var& w, real norm, const Var& offset,
                              real factor) {
  require(x.rank() == 4 && w.rank() == 3 && w.dim(0) == x.dim(2) && w.dim(2) == x.dim(3),
          "exponential_features", "w must be (H, F, d) for x (B, T, H, d): w ", w.shape(), ", x ",
          x.shape());
  require(!offset.exists() || offset.shape() == Shape{w.dim(0), w.dim(1)}, "exponential_features",
          "one offset per feature: offset ", offset.exists() ? offset.shape() : Shape{}, ", w ",
          w.shape());
  Features features = from_logarithms(x);
  features.frequencies = w;
  features.factor = factor;
  features.offset = offset;
  features.norm = norm;
  return features;
}

namespace {

/// Returns all products, or sums of logarithms. (B, T, H, G, n), (B, T, H, G, m) -> (B, T, H, G, n
/// m)
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
  base.coefficients =
      all_products(inner, broadcast_to(c, with_last(inner.shape(), c.dim(4))), base.scale);
  return base;
}

Shape Features::shape() const {
  Shape shape = tokens.shape();
  if (are_exponential()) shape.back() = frequencies.dim(1);
  if (are_products()) shape.back() *= coefficients.dim(4);
  return shape;
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
  Var logarithms = project_heads(tokens, factor == 1 ? frequencies : double(factor) * frequencies);
  if (offset.exists()) logarithms = logarithms + offset;
  if (log_factor != 0) logarithms = shift(logarithms, log_factor);
  return norm == 0 ? logarithms : logarithms - norm * sum(square(tokens), -1, keep);
}

namespace {

/// Transforms one row in place: butterflies of span 1, 2, 4, .., then the scale.
void transform_row(real* x, std::size_t n, real factor) {
  for (std::size_t span = 1; span < n; span *= 2) {
    for (std::size_t first = 0; first < n; first += 2 * span) {
      real *low = x + first, *high = x + first + span;
      for (std::size_t i = 0; i < span; ++i) {
        const real a = low[i], b = high[i];
        low[i] = a + b;
        high[i] = a - b;
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) x[i] *= factor;
}

void transform_rows(real* x, std::size_t rows, std::size_t n) {
  const real factor = real(1 / std::sqrt(double(n)));
  parallel_rows(rows, n, [=](std::size_t row) { transform_row(x + row * n, n, factor); });
}

constexpr real square_weight = real(1 / std::numbers::sqrt2);

void pack_row(const real* x, std::size_t d, real* __restrict y) {
  for (std::size_t i = 0; i < d; y += d - i, ++i) {
    for (std::size_t j = i; j < d; ++j) y[j - i] = x[i] * x[j];
    y[0] = square_weight * x[i] * x[i];
  }
}

void unpack_row(const real* g, const real* x, std::size_t d, real* __restrict dx) {
  for (std::size_t i = 0; i < d; ++i) {
    const std::size_t rest = d - i - 1;
    const real own = 2 * square_weight * x[i] * g[0] + dot_row(g + 1, x + i + 1, rest);
    dx[i] += own;
    for (std::size_t j = 0; j < rest; ++j) dx[i + 1 + j] += g[1 + j] * x[i];
    g += rest + 1;
  }
}

}  // namespace

void require_feature_attention(const char* op, const Shape& q, const Shape& k, const Shape& v,
                               std::size_t chunk, const std::vector<std::size_t>& lengths) {
  require(q.size() == 4 && q == k && q[3] > 0, op, "features must be (B, T, H, F): q ", q, ", k ",
          k);
  require(v.size() == 4 && std::equal(q.begin(), q.begin() + 3, v.begin()), op,
          "values must be (B, T, H, d) like the features: v ", v, ", k ", k);
  require(chunk > 0, op, "the chunk must hold at least one token");
  require_lengths(op, lengths, v);
}

Var hadamard(const Var& x) {
  require(x.rank() >= 1, "hadamard", "x must have an axis");
  const std::size_t n = x.dim(-1), rows = row_count(x.shape());
  require((n & (n - 1)) == 0, "hadamard", "the last axis must be a power of two long: x ",
          x.shape());
  Tensor y = x.value();
  transform_rows(y.data(), rows, n);
  return record("hadamard", std::move(y), {x},
                [x = x.gradient_only(), rows, n](Tensor& g) {
                  transform_rows(g.data(), rows, n);
                  x.add_gradient(std::move(g));
                },
                {{x, [](const Var& d) { return hadamard(d); }, TangentRule::linear}});
}

Var feature_product(const Var& a, const Var& b) {
  require(a.rank() >= 1 && b.rank() >= 1 && without_last(a.shape()) == without_last(b.shape()),
          "feature_product", "all axes but the last must be equal: a ", a.shape(), ", b ",
          b.shape());
  const std::size_t n = a.dim(-1), m = b.dim(-1);
  const std::size_t rows = element_count(without_last(a.shape()));
  Tensor y = uninitialized(with_last(a.shape(), n * m));
  parallel_rows(rows, n * m, [n, m, a = a.data(), b = b.data(), y = y.data()](std::size_t row) {
    for (std::size_t i = 0; i < n; ++i) {
      const real factor = a[row * n + i], *from = b + row * m;
      real* to = y + (row * n + i) * m;
      for (std::size_t j = 0; j < m; ++j) to[j] = factor * from[j];
    }
  });
  return record("feature_product", std::move(y), {a, b},
                [a, b, rows, n, m](Tensor& g) {
                  real* da = a.needs_gradient() ? a.gradient_buffer().data() : nullptr;
                  real* db = b.needs_gradient() ? b.gradient_buffer().data() : nullptr;
                  parallel_rows(rows, n * m, [&](std::size_t row) {
                    const real *x = a.data() + row * n, *z = b.data() + row * m;
                    for (std::size_t i = 0; i < n; ++i) {
                      const real* from = g.data() + (row * n + i) * m;
                      if (da) da[row * n + i] += dot_row(from, z, m);
                      if (!db) continue;
                      for (std::size_t j = 0; j < m; ++j) db[row * m + j] += x[i] * from[j];
                    }
                  });
                },
                {{a, [&](const Var& d) { return feature_product(d, b); }},
                 {b, [&](const Var& d) { return feature_product(a, d); }}});
}

Var packed_square(const Var& x) {
  require(x.rank() >= 1, "packed_square", "x must have an axis");
  const std::size_t d = x.dim(-1), F = d * (d + 1) / 2, rows = row_count(x.shape());
  Tensor y = uninitialized(with_last(x.shape(), F));
  parallel_rows(rows, F,
                [&](std::size_t row) { pack_row(x.data() + row * d, d, y.data() + row * F); });
  return record(
      "packed_square", std::move(y), {x},
      [x, rows, d, F](Tensor& g) {
        real* dx = x.gradient_buffer().data();
        parallel_rows(rows, F, [&](std::size_t row) {
          unpack_row(g.data() + row * F, x.data() + row * d, d, dx + row * d);
        });
      },
      {{x, [&](const Var& t) { return 0.5 * (packed_square(x + t) - packed_square(x - t)); }}});
}

}  // namespace bochner::inline BOCHNER_PRECISION
