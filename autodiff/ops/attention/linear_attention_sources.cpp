#include <bochner/autodiff/compute/permute.hpp>
#include <bochner/autodiff/ops/attention/linear_attention_parts.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/autodiff/weight_cache.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {

real exponentiate(real* x, std::size_t n) {
  const real highest = max_row(x, n), top = highest < nothing ? nothing : highest;
  for (std::size_t i = 0; i < n; ++i) x[i] = math::exp(x[i] - top);
  return top;
}

namespace {

/// Location of a chunk's rows in an array (B, T, H, ..).
struct Rows {
  std::size_t width = 1, stride, offset;
  Rows(const Place& place, const Shape& shape) {
    for (std::size_t axis = 3; axis < shape.size(); ++axis) width *= shape[axis];
    stride = shape[2] * width;
    offset = ((place.b * shape[1] + place.first) * shape[2] + place.h) * width;
  }
};

/// Rows whose maxima or sums are computed together.
constexpr std::size_t rows_at_once = 16;

/// Computes exp2(x_i - max x_i) of rows (n) in place; base 2 takes half the steps of exp. Writes
/// natural logarithms of the units to `log_scale` if given. NaN is cache.
void exponentiate_base_2(std::size_t rows, std::size_t n, real* x, real* log_scale) {
  for (std::size_t first = 0; first < rows; first += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, rows - first);
    real top[rows_at_once];
    largest_of_each_row(count, n, x, n, top);
    for (std::size_t i = 0; i < count; ++i, x += n) {
      const real unit = top[i] < nothing ? nothing : top[i];
      for (std::size_t j = 0; j < n; ++j) x[j] = math::exp2_nonpositive(x[j] - unit);
      if (log_scale) log_scale[first + i] = unit / log2_e;
    }
  }
}

class StoredSource : public FeatureSource {
 public:
  StoredSource(const Features& features, std::size_t groups)
      : values_(features.tokens), scale_(features.scale), groups_(groups), F_(values_.dim(3)) {}

  void load(const Place& place, real* features, real* log_scale) const override {
    const Rows rows(place, values_.shape());
    for (std::size_t i = 0; i < place.rows; ++i, features += F_) {
      const real* row = values_.data() + rows.offset + i * rows.stride;
      place.prefetch_next(i, row, rows.stride, F_);
      std::copy_n(row, F_, features);
      const std::size_t m = F_ / groups_;
      for (std::size_t g = 0; g < groups_; ++g) {
        const real top =
            scale_ == FeatureScale::logarithmic ? exponentiate(features + g * m, m) : real(0);
        if (log_scale) log_scale[i * groups_ + g] = top;
      }
    }
  }

  void expect_gradients(bool of_all_tokens, std::size_t) override {
    gradient_ = unwritten(values_.shape(), of_all_tokens);
  }

  void store(const Place& place, const real* features, real* gradient, real* slope) override {
    const Rows rows(place, values_.shape());
    if (slope) dot_each_row(place.rows, F_, features, F_, gradient, F_, slope);
    for (std::size_t i = 0; i < place.rows; ++i, features += F_, gradient += F_) {
      real* to = gradient_.data() + rows.offset + i * rows.stride;
      if (scale_ == FeatureScale::linear) {
        std::copy_n(gradient, F_, to);
      } else {
        for (std::size_t f = 0; f < F_; ++f) to[f] = gradient[f] * features[f];
      }
    }
  }

  void flush_gradients() override { values_.add_gradient(std::move(gradient_)); }

 private:
  Var values_;
  FeatureScale scale_;
  std::size_t groups_, F_;
  Tensor gradient_;
};

/// Returns factor x^T of each head. (H, m, n) -> (H, n, m)
Tensor transposed_heads(const Tensor& x, real factor) {
  Tensor y = permute(x, {0, 2, 1});
  update(y, [factor](real u) { return factor * u; });
  return y;
}

/// Returns transposed_heads() of frequencies, cached across the tokens of a text.
std::shared_ptr<const Tensor> shared_transposed_heads(const Var& w, real factor) {
  const auto transpose = [&] {
    return std::make_shared<const Tensor>(transposed_heads(w.value(), factor));
  };
  WeightCache* cache = w.tape() ? w.tape()->weight_cache : nullptr;
  return cache && cache->holds(w.value()) ? cache->of<Tensor>(&w.value(), factor, transpose)
                                          : transpose();
}

/// Features exp(factor w . x + offset - norm |x|^2). Stores w as (H, d, F), so that products run
/// along rows of F, scaled for logarithms to base 2.
class ExponentialSource : public FeatureSource {
 public:
  ExponentialSource(const Features& features, std::size_t groups)
      : x_(features.tokens),
        w_(features.frequencies),
        offset_(features.offset),
        factor_(features.factor),
        norm_(features.norm),
        groups_(groups),
        H_(w_.dim(0)),
        F_(w_.dim(1)),
        d_(w_.dim(2)),
        transposed_(shared_transposed_heads(w_, log2_e * factor_)) {}

  void load(const Place& place, real* features, real* log_scale) const override {
    const Rows rows(place, x_.shape());
    const real* x = x_.data() + rows.offset;
    gemm(place.rows, F_, d_, {x, rows.stride}, {transposed_->data() + place.h * d_ * F_, F_}, 0,
         features, F_);
    for (std::size_t first = 0; first < place.rows; first += rows_at_once) {
      const std::size_t count = std::min(rows_at_once, place.rows - first);
      for (std::size_t i = first; i < first + count; ++i)
        place.prefetch_next(i, x + i * rows.stride, rows.stride, d_);
      exponentiate(place.h, count, x + first * rows.stride, rows.stride, features + first * F_,
                   log_scale ? log_scale + first * groups_ : nullptr);
    }
  }

  void expect_gradients(bool of_all_tokens, std::size_t span) override {
    span_ = span;
    spans_ = ceil_div(x_.dim(1), span);
    const std::size_t parts = x_.dim(0) * spans_;
    scaled_ = map_each([this](real u) { return factor_ * u; }, w_.value());
    dx_ = unwritten(x_.shape(), of_all_tokens);
    dw_ = zeros({parts, H_, d_, F_});
    doffset_ = zeros({offset_.exists() ? parts : 0, H_, F_});
  }

  void store(const Place& place, const real* features, real* gradient, real* slope) override {
    const Rows rows(place, x_.shape());
    const std::size_t head = (place.b * spans_ + place.first / span_) * H_ + place.h;
    real* doffset = offset_.exists() ? doffset_.data() + head * F_ : nullptr;
    for (std::size_t i = 0; i < place.rows * F_; ++i) gradient[i] *= features[i];
    if (doffset) add_rows(gradient, place.rows, F_, doffset);
    if (slope) sum_each_row(place.rows, F_, gradient, F_, slope);
    const real* x = x_.data() + rows.offset;
    real* dx = dx_.data() + rows.offset;
    gemm(place.rows, d_, F_, {gradient, F_}, {scaled_.data() + place.h * F_ * d_, d_}, 0, dx,
         rows.stride);
    for (std::size_t i = 0; slope && i < place.rows; ++i) {
      const real factor = -2 * norm_ * slope[i];
      const real* __restrict from = x + i * rows.stride;
      real* __restrict to = dx + i * rows.stride;
      for (std::size_t e = 0; e < d_; ++e) to[e] += factor * from[e];
    }
    gemm(d_, F_, place.rows, {x, rows.stride, transposed}, {gradient, F_}, 1,
         dw_.data() + head * d_ * F_, F_);
  }

  void flush_gradients() override {
    x_.add_gradient(std::move(dx_));
    if (w_.needs_gradient())
      w_.add_gradient(transposed_heads(sum_to_shape(dw_, {H_, d_, F_}), factor_));
    if (offset_.exists()) offset_.add_gradient(sum_to_shape(doffset_, offset_.shape()));
  }

 private:
  /// Turns products of some rows of x into features and units.
  void exponentiate(std::size_t h, std::size_t rows, const real* x, std::size_t stride,
                    real* features, real* log_scale) const {
    const real* offset = offset_.exists() ? offset_.data() + h * F_ : nullptr;
    for (std::size_t i = 0; offset && i < rows; ++i) {
      for (std::size_t f = 0; f < F_; ++f) features[i * F_ + f] += log2_e * offset[f];
    }
    exponentiate_base_2(rows * groups_, F_ / groups_, features, log_scale);
    if (!log_scale) return;
    real square[rows_at_once];
    dot_each_row(rows, d_, x, stride, x, stride, square);
    for (std::size_t i = 0; i < rows * groups_; ++i) log_scale[i] -= norm_ * square[i / groups_];
  }

  Var x_, w_, offset_;
  real factor_, norm_;
  std::size_t groups_, H_, F_, d_;
  std::size_t span_ = 0, spans_ = 0;          // tokens per span, number of spans
  std::shared_ptr<const Tensor> transposed_;  // log2_e factor w as (H, d, F)
  Tensor scaled_;                             // factor w
  Tensor dx_, dw_, doffset_;                  // per span: (B spans, H, d, F), (B spans, H, F)
};

/// Products of coefficients (G, S) with base features (G, m) of a token, formed in cache; only the
/// factors are stored or computed by their own source.
class ProductSource : public FeatureSource {
 public:
  ProductSource(const Features& features, std::size_t chunk)
      : base_(make_source(features.base(), chunk, features.coefficients.dim(3))),
        coefficients_(features.coefficients),
        scale_(features.scale),
        G_(coefficients_.dim(3)),
        S_(coefficients_.dim(4)),
        m_(features.base().shape()[3] / G_),
        groups_(chunk * G_),
        scratch_(scratch_size<Factors>(groups_, S_, m_)) {}

  void load(const Place& place, real* features, real* log_scale) const override {
    const Factors factors = load_factors(place, log_scale);
    const real *c = factors.coefficients, *base = factors.base;
    for (std::size_t group = 0; group < place.rows * G_; ++group, base += m_) {
      for (std::size_t s = 0; s < S_; ++s, ++c, features += m_) {
        for (std::size_t j = 0; j < m_; ++j) features[j] = *c * base[j];
      }
    }
  }

  void expect_gradients(bool of_all_tokens, std::size_t span) override {
    gradient_ = unwritten(coefficients_.shape(), of_all_tokens);
    base_->expect_gradients(of_all_tokens, span);
  }

  void store(const Place& place, const real*, real* gradient, real* slope) override {
    const Factors factors = load_factors(place, nullptr);
    std::fill_n(factors.base_gradient, place.rows * G_ * m_, real(0));
    const Rows rows(place, coefficients_.shape());
    for (std::size_t i = 0; i < place.rows; ++i) {
      real* to = gradient_.data() + rows.offset + i * rows.stride;
      for (std::size_t gs = 0; gs < rows.width; ++gs, gradient += m_) {
        const std::size_t group = (i * G_ + gs / S_) * m_;
        const real c = factors.coefficients[i * rows.width + gs];
        const real slope_of_c = dot_row(gradient, factors.base + group, m_);
        to[gs] = scale_ == FeatureScale::logarithmic ? c * slope_of_c : slope_of_c;
        real* base_gradient = factors.base_gradient + group;
        for (std::size_t j = 0; j < m_; ++j) base_gradient[j] += c * gradient[j];
      }
    }
    base_->store(place, factors.base, factors.base_gradient, slope);
  }

  void flush_gradients() override {
    coefficients_.add_gradient(std::move(gradient_));
    base_->flush_gradients();
  }

 private:
  /// Factors of the rows of a place, in the worker's scratch memory.
  struct Factors {
    real *coefficients, *base, *base_gradient;  // (rows, G, S), (rows, G, m) twice
    real* units;                                // (rows, G)

    Factors(std::size_t groups, std::size_t S, std::size_t m, Arena& arena) {
      arena.take(groups * S, coefficients);
      arena.take(groups * m, base, base_gradient);
      arena.take(groups, units);
    }
  };

  /// Loads the factors. Products of logarithms may be far below the product of the largest factors:
  /// each group has its own unit, and coefficients take up the differences between groups.
  Factors load_factors(const Place& place, real* log_scale) const {
    Arena arena(scratch_.local());
    const Factors factors(groups_, S_, m_, arena);
    base_->load(place, factors.base, factors.units);
    const Rows rows(place, coefficients_.shape());
    for (std::size_t i = 0; i < place.rows; ++i) {
      real* c = factors.coefficients + i * rows.width;
      const real* row = coefficients_.data() + rows.offset + i * rows.stride;
      place.prefetch_next(i, row, rows.stride, rows.width);
      std::copy_n(row, rows.width, c);
      const real top =
          scale_ == FeatureScale::logarithmic ? join_units(c, factors.units + i * G_) : 0;
      if (log_scale) log_scale[i] = top;
    }
    return factors;
  }

  /// Turns log coefficients (G, S) into coefficients in units of exp(units_g), the largest 1;
  /// returns the logarithm of their common unit.
  real join_units(real* c, real* units) const {
    real top = nothing;
    for (std::size_t g = 0; g < G_; ++g) {
      units[g] += exponentiate(c + g * S_, S_);
      top = std::max(top, units[g]);
    }
    for (std::size_t g = 0; g < G_; ++g) {
      const real factor = math::exp(units[g] - top);
      for (std::size_t s = 0; s < S_; ++s) c[g * S_ + s] *= factor;
    }
    return top;
  }

  std::unique_ptr<FeatureSource> base_;
  Var coefficients_;
  FeatureScale scale_;
  std::size_t G_, S_, m_;
  std::size_t groups_;  // groups per chunk
  Scratch<real> scratch_;
  Tensor gradient_;  // of the coefficients
};

}  // namespace

std::unique_ptr<FeatureSource> make_source(const Features& features, std::size_t chunk,
                                           std::size_t groups) {
  if (features.are_products()) return std::make_unique<ProductSource>(features, chunk);
  if (features.are_exponential()) return std::make_unique<ExponentialSource>(features, groups);
  return std::make_unique<StoredSource>(features, groups);
}

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION
