#pragma once
#include <cstddef>
#include <initializer_list>

namespace bochner {

/// Returns a / b rounded up, b > 0.
constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Returns the smallest multiple of b that is at least a.
constexpr std::size_t round_up(std::size_t a, std::size_t b) { return ceil_div(a, b) * b; }

/// Returns the smallest even length >= n whose prime factors are 2, 3 and 5.
inline std::size_t fast_fft_size(std::size_t n) {
  for (std::size_t size = n + n % 2;; size += 2) {
    std::size_t rest = size;
    for (const std::size_t radix : {2, 3, 5})
      while (rest > 1 && rest % radix == 0) rest /= radix;
    if (rest == 1) return size;
  }
}

}  // namespace bochner
