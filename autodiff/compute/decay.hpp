#pragma once

namespace bochner {

/// Bounds a decay rate for sums over tokens. Beyond the bound the past is 0 even in double, and a
/// huge rate would erase the last digits of all later sums.
inline double bounded_rate(double rate) {
  constexpr double most = 1e4;
  return rate > most ? most : rate;
}

}  // namespace bochner
