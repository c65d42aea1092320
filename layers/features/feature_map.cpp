#include <bochner/layers/features/feature_map.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Registry<FeatureMap, FeatureSpec>& feature_maps() {
  static Registry<FeatureMap, FeatureSpec> registry("features",
                                                    {{"positive", make<PositiveFeatures>}});
  return registry;
}

}  // namespace bochner::inline BOCHNER_PRECISION
