#include <bochner/layers/features/gated_hybrid.hpp>
#include <bochner/layers/features/hybrid.hpp>
#include <bochner/layers/features/optimal.hpp>
#include <bochner/layers/features/pff.hpp>
#include <bochner/layers/features/pointwise.hpp>
#include <bochner/layers/features/projection.hpp>
#include <bochner/layers/features/random_features.hpp>
#include <bochner/layers/features/tempered.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Features FeatureMap::queries(Tape& tape, const Var& q, std::size_t) { return features(tape, q); }
Features FeatureMap::keys(Tape& tape, const Var& k, std::size_t) { return features(tape, k); }
std::optional<double> FeatureMap::kernel(Point, Point, std::size_t) const { return {}; }
std::optional<double> FeatureMap::variance(Point, Point, std::size_t) const { return {}; }
void FeatureMap::calibrate(const Tensor&, const Tensor&) {}

Registry<FeatureMap, FeatureSpec>& feature_maps() {
  static Registry<FeatureMap, FeatureSpec> registry("features",
                                                    {{"positive", make<PositiveFeatures>},
                                                     {"hyperbolic", make<HyperbolicFeatures>},
                                                     {"trigonometric", make<TrigonometricFeatures>},
                                                     {"oprf", make<OptimalFeatures>},
                                                     {"saderf", make<OptimalFeatures>},
                                                     {"sderf", make<OptimalFeatures>},
                                                     {"aderf", make<OptimalFeatures>},
                                                     {"pff", make<PositiveFixedFeatures>},
                                                     {"wpff", make<WeightedFeatures>},
                                                     {"wpff_fixed", make<FixedWeightFeatures>},
                                                     {"hybrid_angular", make<AngularHybrid>},
                                                     {"hybrid_gaussian", make<GaussianHybrid>},
                                                     {"hybrid_cluster", make<ClusterHybrid>},
                                                     {"hybrid_learned", make<LearnedHybrid>},
                                                     {"elu", make<EluFeatures>},
                                                     {"relu", make<ReluFeatures>},
                                                     {"squared_relu", make<SquaredReluFeatures>},
                                                     {"t2r", make<T2RFeatures>},
                                                     {"hedgehog", make<HedgehogFeatures>},
                                                     {"taylor", make<TaylorFeatures>},
                                                     {"rebased", make<RebasedFeatures>},
                                                     {"dpfp", make<DpfpFeatures>},
                                                     {"cosformer", make<CosformerFeatures>}});
  return registry;
}

std::vector<std::string> projection_names() {
  std::vector<std::string> names = projections().names();
  names.insert(names.begin(), "density");
  return names;
}

std::unique_ptr<FeatureMap> make_feature_map(const FeatureSpec& spec) {
  auto map = feature_maps().make(spec.kind, spec);
  if (!spec.temperature) return map;
  return std::make_unique<Tempered>(std::move(map), spec.heads);
}

}  // namespace bochner::inline BOCHNER_PRECISION
