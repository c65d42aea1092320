#pragma once
#include <bochner/layers/encodings/time_encoding.hpp>
#include <cmath>
#include <numbers>

namespace bochner::inline BOCHNER_PRECISION {

/// Logarithms of m frequencies whose periods are geometrically spaced from spec.shortest to
/// spec.longest. -> (m)
inline Tensor log_frequencies(const TimeEncodingSpec& spec) {
  require(spec.m >= 1 && spec.shortest > 0 && spec.longest >= spec.shortest, "time_encoding",
          "needs a frequency, and periods 0 < shortest <= longest: m = ", spec.m,
          ", shortest = ", spec.shortest, ", longest = ", spec.longest);
  Tensor log_w = uninitialized({spec.m});
  for (std::size_t i = 0; i < spec.m; ++i) {
    const double part = spec.m > 1 ? double(i) / double(spec.m - 1) : 0;
    log_w.data()[i] = real(std::log(2 * std::numbers::pi) - (1 - part) * std::log(spec.shortest) -
                           part * std::log(spec.longest));
  }
  return log_w;
}

}  // namespace bochner::inline BOCHNER_PRECISION
