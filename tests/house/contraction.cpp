// Built by tests/house/contraction for several processors. Prints what breaks the promise, or else
// a digest of the sums of rows.

#include <bit>
#include <bochner/autodiff/compute/row_sums.cpp>
#include <bochner/autodiff/compute/small_product.cpp>
#include <bochner/autodiff/compute/transpose.cpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns numbers in [-1, 1) that fill the significand.
std::vector<real> mixed(std::size_t count, std::uint32_t state) {
  std::vector<real> x(count);
  for (real& value : x) {
    state = state * 1664525 + 1013904223;
    value = real(std::int32_t(state)) / real(2147483648.0) / real(1.1);
  }
  return x;
}

/// Returns whether every element is one chain of fused multiply-adds over k in any tile.
bool is_one_chain(std::size_t M, std::size_t N, std::size_t K, real beta) {
  const std::vector<real> a = mixed(M * K, 1), b = mixed(K * N, 2), before = mixed(M * N, 3);
  std::vector<real> c = before;
  small_product(M, N, K, {a.data(), K}, {b.data(), N}, beta, c.data(), N);
  for (std::size_t n = 0; n < M * N; ++n) {
    real sum = 0;
    for (std::size_t k = 0; k < K; ++k) sum = std::fma(a[n / N * K + k], b[k * N + n % N], sum);
    if (c[n] == (beta == 0 ? sum : sum + beta * before[n])) continue;
    std::printf("%s: element (%zu, %zu) of (%zu, %zu) x (%zu, %zu)\n", precision_name, n / N, n % N,
                M, K, K, N);
    return false;
  }
  return true;
}

/// Returns the FNV-1a of the bits of all sums and maxima of rows of 0 to 150 elements.
std::uint64_t digest_of_rows() {
  std::uint64_t digest = 0xcbf29ce484222325;
  const auto add = [&](auto value) {
    digest = (digest ^ std::bit_cast<std::uint64_t>(double(value))) * 0x100000001b3;
  };
  for (std::size_t n = 0; n <= 150; ++n) {
    const std::vector<real> x = mixed(n, 4), y = mixed(n, 5);
    add(sum_row(x.data(), n));
    add(dot_row(x.data(), y.data(), n));
    add(spread_row(x.data(), n, real(0.3)));
    add(square_row(x.data(), n));
    add(finite_row(x.data(), n));
    if (n > 0) add(max_row(x.data(), n));
    if (n > 0) add(max_of_numbers(x.data(), n));
  }
  return digest;
}

}  // namespace
}  // namespace bochner::inline BOCHNER_PRECISION

int main() {
  using bochner::is_one_chain, bochner::real;
  for (const std::size_t N : {1, 15, 16, 17, 33, 48, 64, 79}) {
    for (const std::size_t M : {1, 2, 3, 4, 6, 8, 29}) {
      if (!is_one_chain(M, N, 23, 0) || !is_one_chain(M, N, 23, real(0.7))) return 1;
    }
  }
  std::printf("%s rows %016llx\n", bochner::precision_name,
              static_cast<unsigned long long>(bochner::digest_of_rows()));
}
