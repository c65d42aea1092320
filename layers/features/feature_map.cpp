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

/// Returns the names that a small map of a kind visits; none if it cannot be made.
std::vector<std::string> visited_names(const std::string& kind, const char* projection) try {
  FeatureSpec spec;
  spec.kind = kind, spec.projection = projection;
  spec.dim = spec.m = spec.density.dim = spec.density.m = 4;
  const auto map = feature_maps().make(kind, spec);
  std::vector<std::string> names;
  for (const NamedParameter& named : parameters_of(*map)) names.push_back(named.name);
  for (const NamedTensor& named : buffers_of(*map)) names.push_back(named.name);
  return names;
} catch (const std::exception&) {
  return {};
}

/// Whether the map draws from a density: it visits the density's noise.
bool draws_frequencies(const std::string& kind) {
  if (const auto known = feature_maps().traits(kind, {}).frequencies) return *known;
  if (feature_maps().is_built_in(kind)) return true;
  return std::ranges::any_of(visited_names(kind, "density"),
                             [](const std::string& name) { return name.ends_with("noise"); });
}

/// Whether a projection replaces the density: the map then visits other parameters.
bool takes_projection(const std::string& kind) {
  if (!draws_frequencies(kind)) return false;
  return feature_maps().is_built_in(kind) ||
         visited_names(kind, "density") != visited_names(kind, "sorf");
}

KeyCondition has_map(std::string key, const char* trait, bool (*has)(const std::string&)) {
  KeyCondition condition =
      has_kind(std::move(key), feature_maps, trait, [](const FeatureTraits&) { return true; });
  condition.kinds = [has] {
    std::vector<std::string> names = feature_maps().names();
    std::erase_if(names, [has](const std::string& name) { return !has(name); });
    return names;
  };
  return condition;
}

}  // namespace

KeyCondition has_frequencies(std::string key) {
  return has_map(std::move(key), "frequencies", draws_frequencies);
}

KeyCondition has_projection(std::string key) {
  return has_map(std::move(key), "a projection", takes_projection);
}

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
