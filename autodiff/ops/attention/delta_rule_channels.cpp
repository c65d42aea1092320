#include <bochner/autodiff/ops/attention/delta_rule_parts.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace delta_rule_parts {
namespace {

void fade(std::size_t F, const real* left, real* x) {
  for (std::size_t f = 0; f < F; ++f) x[f] = faded(x[f], left[f]);
}

void add_scaled(std::size_t F, real factor, const real* x, real* __restrict y) {
  for (std::size_t f = 0; f < F; ++f) y[f] += factor * x[f];
}

}  // namespace

/// Decays the key from token to token; never forms quotients of decays, which could overflow.
void ChannelPairs::find_scores(real* scores) const {
  const real* queries = units + rows * F;
  for (std::size_t j = 0; j < rows; ++j) {
    std::copy_n(units + j * F, F, passing);
    for (std::size_t i = 0; i < rows; ++i) {
      if (i > j) fade(F, left + i * F, passing);
      scores[i * C + j] = i > j ? dot_row(units + i * F, passing, F) : real(0);
      scores[(rows + i) * C + j] = i >= j ? dot_row(queries + i * F, passing, F) : real(0);
    }
  }
}

void ChannelPairs::differentiate(const real* slopes, real* reading, real* writing) const {
  const real *queries = units + rows * F, *query_slopes = slopes + rows * C;
  for (std::size_t j = 0; j < rows; ++j) {
    std::copy_n(units + j * F, F, passing);
    for (std::size_t i = j + 1; i < rows; ++i) {
      fade(F, left + i * F, passing);
      add_scaled(F, slopes[i * C + j], passing, reading + i * F);
      add_scaled(F, query_slopes[i * C + j], passing, reading + (rows + i) * F);
    }
    std::fill_n(passing, F, real(0));
    for (std::size_t i = rows; i-- > j + 1;) {
      add_scaled(F, slopes[i * C + j], units + i * F, passing);
      add_scaled(F, query_slopes[i * C + j], queries + i * F, passing);
      fade(F, left + i * F, passing);
    }
    add_scaled(F, 1, passing, writing + j * F);
  }
}

}  // namespace delta_rule_parts
}  // namespace bochner::inline BOCHNER_PRECISION
