#pragma once
/// Whether exponential features have a finite kernel.

#include <bochner/layers/features/feature_map.hpp>
#include <string>

namespace bochner::inline BOCHNER_PRECISION {

/// Returns the largest of 16384 draws' shares of the sum of exp(omega . x), for an x that makes the
/// median of |omega . x| one half: near 0 for light tails, near 1 if the mean is infinite.
double largest_exponential_share(const DensitySpec& spec);

/// Returns the names of the maps of a spec, those that a hybrid mixes, that average exponentials.
std::vector<std::string> exponential_maps(const FeatureSpec& spec);

/// Returns why the kernel of a spec is infinite and what to choose; "" if it is finite, as far as
/// draws of the initial density tell.
std::string infinite_kernel(const FeatureSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
