#pragma once

#include <bochner/data/events/event_sequences.hpp>
#include <cmath>

namespace bochner {

/// Returns (I - excitation)^-1 base: events of each type per unit of time in equilibrium.
inline std::vector<double> mean_rate(const HawkesProcess& process) {
  const std::size_t K = process.types();
  std::vector<double> rates = process.base, next(K);
  // Sums over generations; converges if the process is stationary.
  for (int generation = 0; generation < 100000; ++generation) {
    double change = 0;
    for (std::size_t k = 0; k < K; ++k) {
      next[k] = process.base[k];
      for (std::size_t l = 0; l < K; ++l) next[k] += process.excitation[k * K + l] * rates[l];
      change = std::max(change, std::abs(next[k] - rates[k]));
    }
    rates.swap(next);
    if (change == 0) break;
  }
  return rates;
}

}  // namespace bochner
