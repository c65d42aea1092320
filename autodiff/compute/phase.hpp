#pragma once
#include <cmath>

namespace bochner {

/// Returns frequency * time modulo 2 pi, in [-pi, pi], as exact as the two doubles: the rounding
/// error of the product is carried, and 2 pi has 106 bits. For fewer than 2^51 turns.
inline double reduced_phase(double frequency, double time) {
  constexpr double turns_per_radian = 0x1.45f306dc9c883p-3, round = 0x1.8p+52;
  constexpr double two_pi_high = 0x1.921fb54442d18p+2, two_pi_low = 0x1.1a62633145c07p-52;
  const double product = frequency * time, rest = std::fma(frequency, time, -product);
  const double turns = product * turns_per_radian + round - round;
  return std::fma(-turns, two_pi_low, std::fma(-turns, two_pi_high, product) + rest);
}

}  // namespace bochner
