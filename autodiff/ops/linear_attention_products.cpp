#include <algorithm>
#include <bochner/autodiff/compute/arena.hpp>
#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/ops/linear_attention_sources.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace linear_attention_parts {
namespace {

/// Products of coefficients (G, S) with base features (G, m) of a token, in cache: only the factors
/// are stored, or follow a rule of their own.
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

  void prefetch(const Place& place) const override {
    const Rows rows = rows_of(place);
    prefetch_rows(coefficients_.data() + rows.offset, place.rows, rows.stride, G_ * S_);
    base_->prefetch(place);
  }

  void load(const Place& place, real* features, real* log_scale) const override {
    const Factors factors = load_factors(place, log_scale);
    const real *c = factors.coefficients, *base = factors.base;
    for (std::size_t group = 0; group < place.rows * G_; ++group, base += m_) {
      for (std::size_t s = 0; s < S_; ++s, ++c, features += m_) {
        for (std::size_t j = 0; j < m_; ++j) features[j] = *c * base[j];
      }
    }
  }

  void expect_gradients(bool of_all_tokens) override {
    gradient_ = gradient_like(coefficients_.value(), of_all_tokens);
    base_->expect_gradients(of_all_tokens);
  }

  void store(const Place& place, const real*, real* gradient, real* slope) override {
    const Factors factors = load_factors(place, nullptr);
    std::fill_n(factors.base_gradient, place.rows * G_ * m_, real(0));
    const Rows rows = rows_of(place);
    const std::size_t width = G_ * S_;
    for (std::size_t i = 0; i < place.rows; ++i) {
      real* to = gradient_.data() + rows.offset + i * rows.stride;
      for (std::size_t gs = 0; gs < width; ++gs, gradient += m_) {
        const std::size_t group = (i * G_ + gs / S_) * m_;
        const real c = factors.coefficients[i * width + gs];
        const real slope_of_c = dot_row(gradient, factors.base + group, m_);
        to[gs] = scale_ == FeatureScale::logarithmic ? c * slope_of_c : slope_of_c;
        real* base_gradient = factors.base_gradient + group;
        for (std::size_t j = 0; j < m_; ++j) base_gradient[j] += c * gradient[j];
      }
    }
    base_->store(place, factors.base, factors.base_gradient, slope);
  }

  void hand_over() override {
    coefficients_.add_gradient(std::move(gradient_));
    base_->hand_over();
  }

 private:
  /// Of the rows of a place, in the worker's scratch memory.
  struct Factors {
    real *coefficients, *base, *base_gradient;  // (rows, G, S), (rows, G, m) twice
    real* units;                                // (rows, G)

    Factors(std::size_t groups, std::size_t S, std::size_t m, Arena& arena)
        : coefficients(arena.take(groups * S)),
          base(arena.take(groups * m)),
          base_gradient(arena.take(groups * m)),
          units(arena.take(groups)) {}
  };

  Rows rows_of(const Place& place) const { return {place, coefficients_.shape(), G_ * S_}; }

  /// Products of logarithms may be far below both of their largest factors: each group has its own
  /// unit, and what is between the groups goes to the coefficients.
  Factors load_factors(const Place& place, real* log_scale) const {
    Arena arena(scratch_.local());
    const Factors factors(groups_, S_, m_, arena);
    base_->load(place, factors.base, factors.units);
    const Rows rows = rows_of(place);
    for (std::size_t i = 0; i < place.rows; ++i) {
      real* c = factors.coefficients + i * G_ * S_;
      std::copy_n(coefficients_.data() + rows.offset + i * rows.stride, G_ * S_, c);
      const real top =
          scale_ == FeatureScale::logarithmic ? join_units(c, factors.units + i * G_) : 0;
      if (log_scale) log_scale[i] = top;
    }
    return factors;
  }

  /// Logarithms of coefficients (G, S) to coefficients of groups in units of exp(units_g), the
  /// largest 1. Returns the logarithm of their common unit.
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
  std::size_t groups_;  // of a chunk
  Scratch<real> scratch_;
  Tensor gradient_;  // of the coefficients
};

}  // namespace

std::unique_ptr<FeatureSource> make_product_source(const Features& features, std::size_t chunk) {
  return std::make_unique<ProductSource>(features, chunk);
}

}  // namespace linear_attention_parts
}  // namespace bochner::inline BOCHNER_PRECISION
