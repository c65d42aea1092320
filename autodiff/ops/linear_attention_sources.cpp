#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/linear_attention_sources.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {

real exponentiate(real* x, std::size_t n) {
  const real highest = max_row(x, n), top = highest < nothing ? nothing : highest;
  for (std::size_t i = 0; i < n; ++i) x[i] = math::exp(x[i] - top);
  return top;
}

namespace {

Rows rows_of(const Place& place, const Var& x) { return {place, x.shape(), x.dim(3)}; }

/// x *= y. Returns the sum.
real multiply_row(const real* y, std::size_t n, real* x) {
  for (std::size_t i = 0; i < n; ++i) x[i] *= y[i];
  return sum_row(x, n);
}

void prefetch_tokens(const Var& x, const Place& place) {
  const Rows rows = rows_of(place, x);
  prefetch_rows(x.data() + rows.offset, place.rows, rows.stride, x.dim(3));
}

class StoredSource : public FeatureSource {
 public:
  StoredSource(const Features& features, std::size_t groups)
      : values_(features.tokens), scale_(features.scale), groups_(groups), F_(values_.dim(3)) {}

  void prefetch(const Place& place) const override { prefetch_tokens(values_, place); }

  void load(const Place& place, real* features, real* log_scale) const override {
    const Rows rows = rows_of(place, values_);
    for (std::size_t i = 0; i < place.rows; ++i, features += F_) {
      std::copy_n(values_.data() + rows.offset + i * rows.stride, F_, features);
      const std::size_t m = F_ / groups_;
      for (std::size_t g = 0; g < groups_; ++g) {
        const real top =
            scale_ == FeatureScale::logarithmic ? exponentiate(features + g * m, m) : real(0);
        if (log_scale) log_scale[i * groups_ + g] = top;
      }
    }
  }

  void expect_gradients(bool of_all_tokens) override {
    gradient_ = gradient_like(values_.value(), of_all_tokens);
  }

  void store(const Place& place, const real* features, real* gradient, real* slope) override {
    const Rows rows = rows_of(place, values_);
    for (std::size_t i = 0; i < place.rows; ++i, features += F_, gradient += F_) {
      if (slope) slope[i] = dot_row(features, gradient, F_);
      real* to = gradient_.data() + rows.offset + i * rows.stride;
      if (scale_ == FeatureScale::linear) {
        std::copy_n(gradient, F_, to);
      } else {
        for (std::size_t f = 0; f < F_; ++f) to[f] = gradient[f] * features[f];
      }
    }
  }

  void hand_over() override { values_.add_gradient(std::move(gradient_)); }

 private:
  Var values_;
  FeatureScale scale_;
  std::size_t groups_, F_;
  Tensor gradient_;
};

/// (H, n, m) from (H, m, n), or from (B, H, m, n) summed over B.
Tensor transposed_heads(const Tensor& x, std::size_t H, std::size_t m, std::size_t n) {
  Tensor y = zeros({H, n, m});
  for (std::size_t head = 0; head * m * n < x.size(); ++head) {
    const real* from = x.data() + head * m * n;
    real* to = y.data() + head % H * m * n;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) to[j * m + i] += from[i * n + j];
    }
  }
  return y;
}

/// exp(w . x + offset - norm |x|^2); w is kept as (H, d, F), so that rows of F numbers are what
/// products run along.
class ExponentialSource : public FeatureSource {
 public:
  ExponentialSource(const Features& features, std::size_t groups)
      : x_(features.tokens),
        w_(features.frequencies),
        offset_(features.offset),
        norm_(features.norm),
        groups_(groups),
        H_(w_.dim(0)),
        F_(w_.dim(1)),
        d_(w_.dim(2)),
        transposed_(transposed_heads(w_.value(), H_, F_, d_)) {}

  void prefetch(const Place& place) const override { prefetch_tokens(x_, place); }

  void load(const Place& place, real* features, real* log_scale) const override {
    const Rows rows = rows_of(place, x_);
    const real* x = x_.data() + rows.offset;
    gemm(Transpose::no, Transpose::no, place.rows, F_, d_, 1, x, rows.stride,
         transposed_.data() + place.h * d_ * F_, F_, 0, features, F_);
    const real* offset = offset_.exists() ? offset_.data() + place.h * F_ : nullptr;
    for (std::size_t i = 0; i < place.rows; ++i, x += rows.stride, features += F_) {
      for (std::size_t f = 0; offset && f < F_; ++f) features[f] += offset[f];
      const std::size_t m = F_ / groups_;
      const real square = norm_ * dot_row(x, x, d_);
      for (std::size_t g = 0; g < groups_; ++g) {
        const real top = exponentiate(features + g * m, m);
        if (log_scale) log_scale[i * groups_ + g] = top - square;
      }
    }
  }

  void expect_gradients(bool of_all_tokens) override {
    const std::size_t B = x_.dim(0);
    dx_ = gradient_like(x_.value(), of_all_tokens);
    dw_ = zeros({B, H_, d_, F_});
    doffset_ = zeros({offset_.exists() ? B : 0, H_, F_});
  }

  void store(const Place& place, const real* features, real* gradient, real* slope) override {
    const Rows rows = rows_of(place, x_);
    const std::size_t head = place.b * H_ + place.h;
    real* doffset = offset_.exists() ? doffset_.data() + head * F_ : nullptr;
    for (std::size_t i = 0; i < place.rows; ++i) {
      real* row = gradient + i * F_;
      const real sum = multiply_row(features + i * F_, F_, row);
      if (slope) slope[i] = sum;
      for (std::size_t f = 0; doffset && f < F_; ++f) doffset[f] += row[f];
    }
    const real* x = x_.data() + rows.offset;
    real* dx = dx_.data() + rows.offset;
    gemm(Transpose::no, Transpose::no, place.rows, d_, F_, 1, gradient, F_,
         w_.data() + place.h * F_ * d_, d_, 0, dx, rows.stride);
    for (std::size_t i = 0; slope && i < place.rows; ++i) {
      const real factor = -2 * norm_ * slope[i];
      for (std::size_t e = 0; e < d_; ++e)
        dx[i * rows.stride + e] += factor * x[i * rows.stride + e];
    }
    gemm(Transpose::yes, Transpose::no, d_, F_, place.rows, 1, x, rows.stride, gradient, F_, 1,
         dw_.data() + head * d_ * F_, F_);
  }

  void hand_over() override {
    x_.add_gradient(std::move(dx_));
    if (w_.needs_gradient()) w_.add_gradient(transposed_heads(dw_, H_, d_, F_));
    if (offset_.exists()) offset_.add_gradient(sum_to_shape(doffset_, offset_.shape()));
  }

 private:
  Var x_, w_, offset_;
  real norm_;
  std::size_t groups_, H_, F_, d_;
  Tensor transposed_;         // w as (H, d, F)
  Tensor dx_, dw_, doffset_;  // of each sequence: (B, H, d, F), (B, H, F)
};

}  // namespace

std::unique_ptr<FeatureSource> make_source(const Features& features, std::size_t chunk,
                                           std::size_t groups) {
  if (features.are_products()) return make_product_source(features, chunk);
  if (features.are_exponential()) return std::make_unique<ExponentialSource>(features, groups);
  return std::make_unique<StoredSource>(features, groups);
}

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION
