#pragma once
/// What each source adds to the feature maps that configs may name.

#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using FeatureMaps = Registry<FeatureMap, FeatureSpec>;
void add_random_features(FeatureMaps& all);
void add_stationary(FeatureMaps& all);
void add_optimal(FeatureMaps& all);
void add_pff(FeatureMaps& all);
void add_hybrids(FeatureMaps& all);
void add_gated_hybrids(FeatureMaps& all);
void add_mixed_hybrid(FeatureMaps& all);
void add_pointwise(FeatureMaps& all);

}  // namespace bochner::inline BOCHNER_PRECISION
