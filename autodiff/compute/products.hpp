#pragma once
/// Sums of many products into few targets, for gradients of shared factors.

#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {

inline constexpr std::size_t product_row_tile = 256;
/// Tokens per term of a sum over tokens.
inline constexpr std::size_t product_reduction_chunk = 512;
inline constexpr std::size_t product_grain = 65536;

/// Returns the products of M N K multiplications per task.
inline std::size_t products_per_task(std::size_t M, std::size_t N, std::size_t K) {
  return std::max<std::size_t>(1, product_grain / std::max<std::size_t>(1, M * N * K));
}

/// Targets c + t * stride of (M, N), each the sum of `terms` products with K inner elements.
struct ProductSums {
  std::size_t targets, terms, M, N, K;
  real* c;
  std::size_t stride, ldc;
};

/// Adds all terms: term(t, s, beta, c, ldc) computes c = product + beta c for term s of target t.
/// Few targets are split into groups of terms that run in parallel and are joined in order; the
/// split depends on the shape only.
template <class Term>
void accumulate_products(const ProductSums& sums, const Term& term) {
  const auto& [targets, terms, M, N, K, c, stride, ldc] = sums;
  if (targets == 0 || terms == 0) return;
  const std::size_t worthwhile = targets * terms / products_per_task(M, N, K);
  const std::size_t wanted = std::min((targets + 7) / targets, std::min(terms, worthwhile));
  if (wanted <= 1) {
    return parallel_each(targets, products_per_task(M, N, K * terms), [&](std::size_t t) {
      for (std::size_t s = 0; s < terms; ++s) term(t, s, real(1), c + t * stride, ldc);
    });
  }
  const std::size_t terms_per_group = ceil_div(terms, wanted);
  const std::size_t groups = ceil_div(terms, terms_per_group);
  Storage partial(targets * groups * M * N);
  parallel_tasks(targets * groups, [&](std::size_t task) {
    const std::size_t first = task % groups * terms_per_group;
    for (std::size_t s = first; s < std::min(terms, first + terms_per_group); ++s) {
      term(task / groups, s, real(s == first ? 0 : 1), partial.data() + task * M * N, N);
    }
  });
  parallel_rows(targets * M, groups * N, [&](std::size_t row) {
    real* to = c + row / M * stride + row % M * ldc;
    for (std::size_t group = 0; group < groups; ++group) {
      const real* from = partial.data() + ((row / M * groups + group) * M + row % M) * N;
      for (std::size_t j = 0; j < N; ++j) to[j] += from[j];
    }
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION
