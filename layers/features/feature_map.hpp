#pragma once
/// Feature maps phi, whose inner products phi(q) . phi(k) estimate kernels.

#include <bochner/autodiff/ops/sequence.hpp>
#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/layers/registry.hpp>
#include <bochner/layers/spectral/density.hpp>
#include <optional>
#include <span>

namespace bochner::inline BOCHNER_PRECISION {

class FeatureMap;
struct FeatureSpec;
using FeatureMaps = Registry<FeatureMap, FeatureSpec>;
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
inline void describe(Keys& keys, FeatureSpec& spec) {
  keys("kind", spec.kind, one_of(feature_maps),
       "feature map phi of linear attention: how the kernel is estimated");
  keys("projection", spec.projection, one_of(projection_names),
       "frequencies: draws of the density, or structured ones under a learned scale");
  keys("temperature", spec.temperature, "a learned temperature per head");
  keys("spread", spec.spread, between(0, 20),
       "above 0: a learned scale of each head's frequencies, whose logarithms start evenly spaced "
       "between -spread and spread");
  keys("weights", spec.weights, one_of(feature_weights()),
       "weights of features: a network of the input (learned), one over the token's mean feature "
       "(normalized), constants of least box discrepancy (fixed), or p / q of frequencies drawn "
       "from density.proposal (importance)");
  keys("correlation", spec.correlation, between(-1, 1),
       "of the pairs of frequencies at the start (nonstationary); 1 is the stationary kernel");
  keys("estimators", spec.estimators, one_of(feature_maps), "feature maps that are mixed (hybrid)");
  keys("lambdas", spec.lambdas, one_of(lambda_names),
       "coefficients, of sum 1, by which they are mixed: learned gates of queries and keys, the "
       "same calibrated to clusters, or an estimated similarity of query and key (hybrid)");
  keys("lambda", spec.lambda, between(1, 1 << 10),
       "draws of lambda (hybrid, hybrid_angular, hybrid_gaussian)");
  keys("tau", spec.tau, above(0), "width of lambda at the start (hybrid, hybrid_gaussian)");
  keys("smooth", spec.smooth,
       "learned smooth functions in place of signs (hybrid, hybrid_angular)");
  keys("bases", spec.bases, between(1, 64), "estimators that are mixed (hybrid_learned)");
  keys("gates", spec.gates, between(1, 64),
       "gates of queries and of keys (hybrid, hybrid_learned); clusters of each (hybrid_cluster)");
  keys("hidden", spec.hidden, between(1, 1 << 12),
       "hidden width of the network that weighs features by the input (wpff, weights = "
       "\"learned\")");
  keys("box", spec.box, above(0),
       "half width of the box, times the root of a head's channels, for which fixed weights are "
       "optimal (wpff_fixed, weights = \"fixed\")");
  keys("refit", spec.refit, at_least(0),
       "steps after which fixed weights are optimised again, for the frequencies as they are then, "
       "0 for never (wpff_fixed, weights = \"fixed\")");
  keys("rolls", spec.rolls, between(1, 1 << 12), "rolled copies (dpfp)");
  keys("length", spec.length, at_least(0),
       "positions that can be told apart (cosformer), 0 for the tokens of the longest sequence of "
       "the task");
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
  virtual Features queries(Tape& tape, const Var& q, std::size_t first = 0);
  virtual Features keys(Tape& tape, const Var& k, std::size_t first = 0);

  /// Returns whether phi(q) . phi(k) >= 0, so that attention needs no policy for its denominator.
  virtual bool positive() const { return false; }
  /// Returns whether single features have signs, even if positive().
  virtual bool has_signed_features() const { return !positive(); }
  /// Returns E phi(q) . phi(k) for frequencies from N(0, I); empty without a closed form.
  virtual std::optional<double> kernel(Point q, Point k, std::size_t head = 0) const;
  /// Returns the variance for m independent draws from N(0, I); empty without a closed form.
  virtual std::optional<double> variance(Point q, Point k, std::size_t head = 0) const;
  /// Returns E of the squared estimate of one draw with the given moments of frequencies.
  virtual std::optional<double> second_moment(Point q, Point k, const WeightedMoment& moment) const;
  /// Returns the frequencies, null if there are none. Feature f has frequency f mod m.
  virtual Frequencies* frequencies() { return nullptr; }
  /// Returns whether w and -w give the same estimate.
  virtual bool even() const { return false; }
  /// Fits parameters to statistics of sampled queries and keys (n, H, d).
  virtual void calibrate(const Tensor& q, const Tensor& k);
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
