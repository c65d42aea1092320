#pragma once
#include <cstddef>

namespace bochner {

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
