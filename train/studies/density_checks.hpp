#pragma once
/// Properties of custom densities, checked on a small one with moved parameters.

#include <string>
#include <vector>

namespace bochner {

/// How far a function of a density is from what its draws or another function say.
struct DensityCheck {
  std::string function;  ///< "kernel()"
  double distance;
  double most;        ///< largest distance that passes
  std::string words;  ///< "standard errors from the mean of its draws"
  std::string fault;  ///< "kernel() does not match sample()"

  bool passed() const { return distance < most; }
};

/// Checks the functions that a density has: kernel() against the mean over its draws, log_density()
/// against them by importance sampling of a normal density, entropy() against their mean,
/// log_densities() against log_density(), and curve() against kernel() and differences.
std::vector<DensityCheck> check_density(const std::string& kind);

}  // namespace bochner
