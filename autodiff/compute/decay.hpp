#pragma once

namespace bochner {

/// A rate of decay, as sums over tokens take it. Beyond this one nothing is left of what came
/// before, in double too, and a huge one would take the last digits of all sums that follow.
inline double bounded_rate(double rate) {
  constexpr double most = 1e4;
  return rate > most ? most : rate;
}

}  // namespace bochner
