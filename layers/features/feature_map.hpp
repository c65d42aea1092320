#pragma once
/// Feature maps phi: how a kernel is estimated by an inner product phi(q) . phi(k).

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
/// The feature maps that configs may name; a user's own are added here.
FeatureMaps& feature_maps();
/// Where frequencies may come from: "density" and the projections.
std::vector<std::string> projection_names();
/// Where the coefficients of a hybrid may come from: "learned", "gaussian", "angular", "clusters".
std::vector<std::string> lambda_names();
/// What they may be weighed by: "none", "learned", "normalized", "fixed", "importance".
std::vector<std::string> feature_weights();

/// Which map, and where it starts; a map reads what it needs.
struct FeatureSpec {
  std::string kind = "positive";
  std::size_t heads = 1, dim = 32, m = 64;
  DensitySpec density;                 ///< its sizes are those of the map
  std::string projection = "density";  ///< where frequencies come from, see Frequencies
  double spread = 0;                   ///< see Frequencies
  std::string weights = "none";        ///< lambda(x) of each feature, see WeightedMap
  double correlation = 1;              ///< at the start, of the pairs of nonstationary
  bool temperature = false;            ///< a learned factor of x per head, see Tempered
  std::vector<std::string> estimators = {"trigonometric", "oprf"};
  std::string lambdas = "learned";   ///< of a hybrid of these, see make_coefficients()
  std::size_t lambda = 4;            ///< draws of a hybrid's lambda
  double tau = 1;                    ///< width of a Gaussian lambda at the start
  bool smooth = false;               ///< learned tanh instead of signs in the angular lambda
  std::size_t bases = 2, gates = 2;  ///< of hybrids with learned coefficients; clusters
  std::size_t hidden = 64;           ///< hidden width of the network of lambda(x)
  double box = 2;                    ///< half width times sqrt(d) of the box of fixed weights
  std::uint64_t refit = 100;         ///< training passes between new fixed weights, 0 for never
  std::size_t rolls = 2;             ///< rolled copies of dpfp
  std::size_t length = 0;            ///< positions that cosformer can tell apart
  OwnSpecs own = {};                 ///< of maps added to the registry
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

/// Whether it tells the positions of tokens apart: cosformer, alone or in a hybrid.
bool counts_positions(const FeatureSpec& spec);

class Frequencies;

/// One vector of a head, d numbers, as it arrives at the map.
using Point = std::span<const double>;

/// One feature map for all heads of a layer. Maps that treat queries and keys alike give
/// features(); others, or those that need positions (counting from `first`), derive from
/// TwoSidedMap. phi(q) . phi(k) is the estimate itself, normalised, unless constants common to all
/// features are unknown.
class FeatureMap : public Module {
 public:
  /// (B, T, H, d) -> (B, T, H, F)
  virtual Features features(Tape& tape, const Var& x) = 0;
  virtual Features queries(Tape& tape, const Var& q, std::size_t first = 0);
  virtual Features keys(Tape& tape, const Var& k, std::size_t first = 0);

  /// Whether phi(q) . phi(k) is never negative: then attention needs no policy for its denominator.
  virtual bool positive() const { return false; }
  /// Whether single features have signs, even where positive() is true of their sums.
  virtual bool has_signed_features() const { return !positive(); }
  /// E phi(q) . phi(k) for frequencies from N(0, I); empty where no closed form is known.
  virtual std::optional<double> kernel(Point q, Point k, std::size_t head = 0) const;
  /// Its variance for m independent draws from N(0, I); empty where no closed form is known.
  virtual std::optional<double> variance(Point q, Point k, std::size_t head = 0) const;
  /// E of the square of one draw's estimate under frequencies that have other moments.
  virtual std::optional<double> second_moment(Point q, Point k, const WeightedMoment& moment) const;
  /// Where phi has them: feature f belongs to frequency f mod m then. Null where it has none.
  virtual Frequencies* frequencies() { return nullptr; }
  /// Whether a frequency's estimate is the same for w and -w.
  virtual bool even() const { return false; }
  /// Sets what depends on statistics to the optimum for samples of queries and keys (n, H, d).
  virtual void calibrate(const Tensor& q, const Tensor& k);
  /// Whether it is another map without that: then models calibrate it unless they are told not to.
  virtual bool needs_calibration() const { return false; }
};

/// A map whose queries and keys differ.
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
  /// (B, T, H, d) -> (B, T, H, F), positions counting from `first`.
  virtual Features side(Tape& tape, const Var& x, Side side, std::size_t first) = 0;
};

/// The map that the spec names, with its weights and its temperature.
std::unique_ptr<FeatureMap> make_feature_map(const FeatureSpec& spec);

}  // namespace bochner::inline BOCHNER_PRECISION
