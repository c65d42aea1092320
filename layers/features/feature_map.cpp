#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/features/feature_map.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/features/weights.hpp>

namespace bochner::inline BOCHNER_PRECISION {

using AddFeatureMaps = void(FeatureMaps& all);
AddFeatureMaps add_random_features, add_stationary, add_optimal, add_pff, add_hybrids,
    add_gated_hybrids, add_mixed_hybrid, add_pointwise;

namespace {

/// Map of exp(log_temperature) x, one learned log_temperature per head.
class Tempered : public FeatureMap {
 public:
  Tempered(std::unique_ptr<FeatureMap> map, std::size_t heads)
      : map_(std::move(map)), log_temperature_({heads, 1}) {}

  Features features(Tape& tape, const Var& x) override {
    return map_->features(tape, tempered(tape, x));
  }
  Features queries(Tape& tape, const Var& q, std::size_t first) override {
    return map_->queries(tape, tempered(tape, q), first);
  }
  Features keys(Tape& tape, const Var& k, std::size_t first) override {
    return map_->keys(tape, tempered(tape, k), first);
  }
  bool positive() const override { return map_->positive(); }
  bool has_signed_features() const override { return map_->has_signed_features(); }
  std::optional<double> kernel(Point q, Point k, std::size_t head) const override {
    return map_->kernel(tempered(q, head), tempered(k, head), head);
  }
  std::optional<double> variance(Point q, Point k, std::size_t head) const override {
    return map_->variance(tempered(q, head), tempered(k, head), head);
  }
  void calibrate(const Tensor& q, const Tensor& k) override {
    Tape tape({.recording = false});
    map_->calibrate(tempered(tape, q).value(), tempered(tape, k).value());
  }
  bool needs_calibration() const override { return map_->needs_calibration(); }
  Frequencies* frequencies() override { return map_->frequencies(); }
  bool even() const override { return map_->even(); }
  void initialized() override { map_->initialized(); }
  void visit(Visitor& visitor) override {
    map_->visit(visitor);
    visitor("log_temperature", log_temperature_);
  }

 private:
  Var tempered(Tape& tape, const Var& x) { return x * exp(tape(log_temperature_)); }
  std::vector<double> tempered(Point x, std::size_t head) const {
    std::vector<double> y(x.begin(), x.end());
    for (double& e : y) e *= std::exp(double(log_temperature_.value().data()[head]));
    return y;
  }

  std::unique_ptr<FeatureMap> map_;
  Parameter log_temperature_;  // (H, 1)
};

}  // namespace

bool counts_positions(const FeatureSpec& spec) {
  return spec.kind == "cosformer" ||
         (spec.kind == "hybrid" && std::ranges::count(spec.estimators, "cosformer") > 0);
}

FeatureMaps& feature_maps() {
  static FeatureMaps registry = [] {
    FeatureMaps all("features", {});
    for (const auto add : {add_random_features, add_stationary, add_optimal, add_pff, add_hybrids,
                           add_gated_hybrids, add_mixed_hybrid, add_pointwise})
      add(all);
    return std::move(all).built_in();
  }();
  return registry;
}

std::vector<std::string> projection_names() {
  std::vector<std::string> names = projections().names();
  names.insert(names.begin(), "density");
  return names;
}

std::vector<std::string> feature_weights() {
  return {"none", "learned", "normalized", "fixed", "importance"};
}

std::unique_ptr<FeatureMap> make_feature_map(const FeatureSpec& requested) {
  FeatureSpec spec = requested;
  spec.density.heads = spec.heads, spec.density.dim = spec.dim, spec.density.m = spec.m;
  auto map = weighted_map(feature_maps().make(spec.kind, spec), spec);
  if (!spec.temperature) return map;
  return std::make_unique<Tempered>(std::move(map), spec.heads);
}

}  // namespace bochner::inline BOCHNER_PRECISION
