#pragma once
/// Feature maps phi, whose inner products phi(q) . phi(k) estimate kernels.

#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/base/registry.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <optional>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {

class FeatureMap;
struct FeatureSpec;
/// Properties of a kind of feature map.
struct FeatureTraits {
  /// Draws frequencies from a spectral density; unless given, found by making a small map.
  std::optional<bool> frequencies = {};
  bool exponential = false;  ///< of frequencies, whose mean a heavy-tailed density makes infinite
};
using FeatureMaps = Registry<FeatureMap, FeatureSpec, FeatureTraits>;
/// Registry of feature maps; add custom maps here.
FeatureMaps& feature_maps();
/// Returns the sources of frequencies: "density" and the projections.
std::vector<std::string> projection_names();
/// Returns the kinds of hybrid coefficients: "learned", "gaussian", "angular", "clusters".
std::vector<std::string> lambda_names();
/// Returns the kinds of weights: "none", "learned", "normalized", "fixed", "importance".
std::vector<std::string> feature_weights();

/// Parameters of feature maps; a map reads those that it needs.
struct FeatureSpec {
  std::string kind = "positive";
  std::size_t heads = 1, dim = 32, m = 64;
  DensitySpec density;                 ///< sizes are set from the map
  std::string projection = "density";  ///< source of frequencies, see Frequencies
  double spread = 0;                   ///< see Frequencies
  std::string weights = "none";        ///< lambda(x) of each feature, see WeightedMap
  double correlation = 1;              ///< initial, of the pairs of nonstationary
  bool temperature = false;            ///< learned factor of x per head
  std::vector<std::string> estimators = {"trigonometric", "oprf"};
  std::string lambdas = "learned";   ///< coefficients of a hybrid, see make_coefficients()
  std::size_t lambda = 4;            ///< draws of a hybrid's lambda
  double tau = 1;                    ///< initial width of a Gaussian lambda
  bool smooth = false;               ///< learned tanh instead of signs in the angular lambda
  std::size_t bases = 2, gates = 2;  ///< of hybrids with learned coefficients; clusters
  std::size_t hidden = 64;           ///< hidden width of the network of lambda(x)
  double box = 2;                    ///< half width times sqrt(d) of the box of fixed weights
  std::uint64_t refit = 100;         ///< training steps between fits of fixed weights, 0: never
  std::size_t rolls = 2;             ///< rolled copies of dpfp
  std::size_t length = 0;            ///< positions that cosformer distinguishes
  OwnSpecs own = {};                 ///< specs of custom maps
};
/// The map that `key` names draws frequencies from a density.
KeyCondition has_frequencies(std::string key);
/// The map that `key` names draws them through Frequencies, which a projection may replace.
KeyCondition has_projection(std::string key);
/// The keys of hybrids, which mix estimators.
inline void describe_hybrid(Keys& keys, FeatureSpec& spec) {
  keys.when("kind", {"hybrid"}, [&] {
    keys("estimators", spec.estimators, one_of(feature_maps), "feature maps that are mixed");
    keys("lambdas", spec.lambdas, one_of(lambda_names),
         "coefficients of the mixture, of sum 1: learned gates of queries and keys, gates "
         "calibrated to clusters, or an estimated similarity of query and key");
  });
  keys.when("kind", {"hybrid", "hybrid_angular", "hybrid_gaussian"})(
      "lambda", spec.lambda, between(1, 1 << 10), "draws of lambda");
  keys.when("kind", {"hybrid", "hybrid_gaussian"})("tau", spec.tau, above(0),
                                                   "initial width of lambda");
  keys.when("kind", {"hybrid", "hybrid_angular"})("smooth", spec.smooth,
                                                  "learned smooth functions instead of signs");
  keys.when("kind", {"hybrid_learned"})("bases", spec.bases, between(1, 64),
                                        "estimators that are mixed");
  keys.when("kind", {"hybrid", "hybrid_learned", "hybrid_cluster"})(
      "gates", spec.gates, between(1, 64), "gates, or clusters, of queries and of keys");
}
inline void describe(Keys& keys, FeatureSpec& spec) {
  keys("kind", spec.kind, one_of(feature_maps),
       "feature map phi of linear attention: how the kernel is estimated",
       {.joined_by = "estimators"});
  keys.when(has_projection(keys.name_of("kind")), [&] {
    keys("projection", spec.projection, one_of(projection_names),
         "frequencies: draws of the density, or structured ones with a learned scale");
    keys("spread", spec.spread, between(0, 20),
         "above 0: a learned scale for each head, with initial logarithms evenly spaced from "
         "-spread to spread");
  });
  keys("temperature", spec.temperature, "a learned temperature per head");
  keys.when(keys.is_not("kind", {"wpff", "wpff_fixed"}))(
      "weights", spec.weights, one_of(feature_weights()),
      "weights of features: a network of the input (learned), one over the mean feature of the "
      "token (normalized), constants of least box discrepancy (fixed), or p / q of frequencies "
      "drawn from density.proposal (importance)");
  keys.when("kind", {"nonstationary"})(
      "correlation", spec.correlation, between(-1, 1),
      "initial correlation of the pairs of frequencies; 1 for a stationary kernel");
  describe_hybrid(keys, spec);
  keys.when(keys.is("weights", {"learned", "normalized"}) || keys.is("kind", {"wpff"}))(
      "hidden", spec.hidden, between(1, 1 << 12), "hidden width of the network of weights");
  keys.when(keys.is("weights", {"fixed"}) || keys.is("kind", {"wpff_fixed"}), [&] {
    keys("box", spec.box, above(0),
         "half width of the box for which the weights are optimal, times the root of a head's "
         "channels");
    keys("refit", spec.refit, at_least(0),
         "steps between new fits of the weights to the frequencies, 0 for never");
  });
  keys.when("kind", {"dpfp"})("rolls", spec.rolls, between(1, 1 << 12), "rolled copies");
  keys.when("kind", {"cosformer"})(
      "length", spec.length, at_least(0),
      "positions that the map tells apart, 0 for the longest sequence of the task");
  feature_maps().describe_own(keys, spec.own);
}

/// Returns whether the map depends on positions: cosformer, alone or in a hybrid.
bool counts_positions(const FeatureSpec& spec);

class Frequencies;

/// Vector of a head (d), as passed to the map.
using Point = std::span<const double>;

/// Feature map of all heads of a layer. Maps of equal queries and keys override features(); others,
/// and those with positions (from `first` on), derive from TwoSidedMap. phi(q) . phi(k) is the
/// normalized estimate, up to constants of all features if those are unknown.
class FeatureMap : public Module {
 public:
  /// Computes features. (B, T, H, d) -> (B, T, H, F)
  virtual Features features(Tape& tape, const Var& x) = 0;
  virtual Features queries(Tape& tape, const Var& q, std::size_t = 0) { return features(tape, q); }
  virtual Features keys(Tape& tape, const Var& k, std::size_t = 0) { return features(tape, k); }

  /// Returns whether phi(q) . phi(k) >= 0, so that attention needs no policy for its denominator.
  virtual bool positive() const { return false; }
  /// Returns whether single features have signs, even if positive().
  virtual bool has_signed_features() const { return !positive(); }
  /// Returns E phi(q) . phi(k) for frequencies from N(0, I); empty without a closed form.
  virtual std::optional<double> kernel(Point, Point, std::size_t = 0) const { return {}; }
  /// Returns the variance for m independent draws from N(0, I); empty without a closed form.
  virtual std::optional<double> variance(Point, Point, std::size_t = 0) const { return {}; }
  /// Returns E of the squared estimate of one draw with the given moments of frequencies.
  virtual std::optional<double> second_moment(Point, Point, const WeightedMoment&) const {
    return {};
  }
  /// Returns the frequencies, null if there are none. Feature f has frequency f mod m.
  virtual Frequencies* frequencies() { return nullptr; }
  /// Returns whether w and -w give the same estimate.
  virtual bool even() const { return false; }
  /// Fits parameters to statistics of sampled queries and keys (n, H, d).
  virtual void calibrate(const Tensor&, const Tensor&) {}
  /// Returns whether the map depends on calibrate(); models then calibrate by default.
  virtual bool needs_calibration() const { return false; }
};

/// Feature map that treats queries and keys differently.
class TwoSidedMap : public FeatureMap {
 public:
  Features features(Tape& tape, const Var& x) final { return side(tape, x, Side::key, 0); }
  Features queries(Tape& tape, const Var& q, std::size_t first) final {
    return side(tape, q, Side::query, first);
  }
  Features keys(Tape& tape, const Var& k, std::size_t first) final {
    return side(tape, k, Side::key, first);
  }

 protected:
  enum class Side { query, key };
  /// Computes features of one side, positions counted from `first`. (B, T, H, d) -> (B, T, H, F)
  virtual Features side(Tape& tape, const Var& x, Side side, std::size_t first) = 0;
};

/// Makes the map that the spec names, with its weights and temperature.
std::unique_ptr<FeatureMap> make_feature_map(const FeatureSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
