#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/box_weights.hpp>
#include <bochner/layers/features/weights.hpp>
#include <numeric>
#include <set>

#include "layers/features/features_check.hpp"

/// Weights lambda(x) on any map.
namespace bochner::inline BOCHNER_PRECISION {
namespace features_weights_test {

using namespace features_check;

constexpr std::size_t heads = 2, d = 4, m = 6;

FeatureSpec small(const std::string& kind, const std::string& weights = "none") {
  FeatureSpec spec = spec_of(kind, heads, d, m);
  spec.weights = weights, spec.hidden = 3, spec.lambda = 2, spec.length = 9;
  return spec;
}

/// Returns all maps without weights.
std::vector<std::string> plain_maps() {
  std::vector<std::string> names = feature_maps().names();
  std::erase_if(names, [](const std::string& name) { return name.starts_with("wpff"); });
  return names;
}

/// Returns features of queries and keys, as logarithms if the map gives them.
std::vector<Tensor> both_sides(FeatureMap& map) {
  Tape tape({.recording = false});
  const Tensor x = random_tensor({2, 5, heads, d}, 1);
  return {map.queries(tape, x).values().value(), map.keys(tape, x).values().value()};
}

/// Returns the feature of the base that a product contains.
std::size_t base_feature(const Features& z, std::size_t f) {
  if (!z.are_products()) return f;
  const std::size_t S = z.coefficients.dim(4), own = z.shape().back() / (z.coefficients.dim(3) * S);
  return f / (S * own) * own + f % own;
}

/// Copies the values of parameters of equal names.
void copy_parameters(Module& from, Module& to) {
  for (const NamedParameter& target : parameters_of(to)) {
    for (const NamedParameter& source : parameters_of(from))
      if (source.name == target.name) target.parameter->value() = source.parameter->value();
  }
}

TEST(LearnedWeights, ChangeNothingAtTheStartOfAnyMap) {
  for (const std::string& kind : plain_maps()) {
    const auto weighted = make_feature_map(small(kind, "learned"));
    const auto plain = make_feature_map(small(kind));
    initialize(*weighted, 3);
    initialize(*plain, 3);
    const auto expected = both_sides(*plain), values = both_sides(*weighted);
    for (std::size_t side : {0, 1}) op_check::expect_near(values[side], expected[side]);
    EXPECT_EQ(weighted->positive(), plain->positive() && kind != "taylor" && kind != "rebased")
        << kind;
  }
}

TEST(LearnedWeights, MultiplyTheFeaturesOfAnyMap) {
  for (const std::string& kind : plain_maps()) {
    const auto map = make_feature_map(small(kind, "learned"));
    const auto plain = make_feature_map(small(kind));
    randomize(*map);
    copy_parameters(*map, *plain);
    auto& weighted = dynamic_cast<LearnedWeights&>(*map);
    const auto with = both_sides(*map), without = both_sides(*plain);
    Tape tape({.recording = false});
    const Tensor log_weights =
        weighted.log_weights(tape, random_tensor({2, 5, heads, d}, 1)).value();
    const std::size_t F = with[0].shape().back(), n = log_weights.shape().back();
    const Features z_of_keys = plain->keys(tape, zeros({1, 1, heads, d}));
    EXPECT_EQ(n, plain->frequencies() ? m : z_of_keys.base().shape().back()) << kind;
    const bool logarithms = z_of_keys.scale == FeatureScale::logarithmic;
    for (std::size_t side : {0, 1}) {
      for (std::size_t i = 0; i < with[side].size(); ++i) {
        const double log_weight =
            double(log_weights.data()[i / F * n + base_feature(z_of_keys, i % F) % n]);
        const double z = double(without[side].data()[i]);
        const double expected = logarithms ? z + log_weight : z * std::exp(log_weight);
        ASSERT_NEAR(with[side].data()[i], expected,
                    (is_double ? 1e-12 : 1e-4) * std::max(1.0, std::abs(expected)))
            << kind;
      }
    }
  }
}

TEST(LearnedWeights, HaveNamesOfTheirOwn) {
  for (const std::string& kind : feature_maps().names()) {
    const auto map = make_feature_map(small(kind, kind.starts_with("wpff") ? "none" : "learned"));
    std::set<std::string> names;
    for (const std::string& name : names_of(*map)) EXPECT_TRUE(names.insert(name).second) << name;
    for (const NamedTensor& named : buffers_of(*map))
      EXPECT_TRUE(names.insert(named.name).second) << kind << ": " << named.name;
  }
}

/// wpff is pff with learned weights, wpff_fixed with fixed ones.
TEST(WeightedMaps, AreThoseOfPffByName) {
  for (const auto& [kind, weights] : {std::pair{"wpff", "learned"}, {"wpff_fixed", "fixed"}}) {
    const auto named = make_feature_map(small(kind)),
               made = make_feature_map(small("pff", weights));
    EXPECT_EQ(names_of(*named), names_of(*made));
    initialize(*named, 3);
    initialize(*made, 3);
    const auto expected = both_sides(*named), values = both_sides(*made);
    for (std::size_t side : {0, 1}) op_check::expect_equal_bits(values[side], expected[side]);
  }
}

/// Rectified features that are all 0 have sum 0.
TEST(NormalizedWeights, MakeFeaturesOfTheSameSum) {
  for (const std::string& kind : plain_maps()) {
    const auto plain = make_feature_map(small(kind));
    if (!plain->positive()) continue;
    const auto map = make_feature_map(small(kind, "normalized"));
    randomize(*map);
    copy_parameters(*map, *plain);
    Tape tape;
    const bool logarithms =
        plain->keys(tape, zeros({1, 1, heads, d})).scale == FeatureScale::logarithmic;
    const auto with = both_sides(*map), without = both_sides(*plain);
    for (std::size_t side : {0, 1}) {
      const std::size_t F = with[side].shape().back();
      for (std::size_t i = 0; i < with[side].size(); i += F) {
        double total = 0, before = 0;
        for (std::size_t f = 0; f < F; ++f) {
          const double value = with[side].data()[i + f];
          total += logarithms ? std::exp(value) : value;
          before += logarithms ? 1 : double(without[side].data()[i + f]);
        }
        EXPECT_NEAR(total, before > 0 ? std::sqrt(double(F)) : 0, is_double ? 1e-12 : 1e-4) << kind;
      }
    }
  }
}

TEST(NormalizedWeights, KeepTheCoefficientsOfAHybrid) {
  FeatureSpec spec = small("hybrid");
  spec.estimators = {"positive", "elu"}, spec.lambdas = "learned";
  const auto plain = make_feature_map(spec);
  spec.weights = "normalized";
  const auto map = make_feature_map(spec);
  randomize(*map);
  copy_parameters(*map, *plain);
  const auto with = both_sides(*map), without = both_sides(*plain);
  for (std::size_t side : {0, 1}) {
    ASSERT_EQ(with[side].shape(), without[side].shape());
    const std::size_t F = with[side].shape().back();
    for (std::size_t i = 0; i < with[side].size(); i += F) {
      const double factor = double(with[side].data()[i]) / double(without[side].data()[i]);
      for (std::size_t f = 1; f < F; ++f)
        EXPECT_NEAR(with[side].data()[i + f], factor * without[side].data()[i + f],
                    is_double ? 1e-12 : 1e-4);
    }
  }
}

/// SM(x, 0) = 1 for every draw, where the plain estimate is right on average only.
TEST(NormalizedWeights, AreExactWhereOnePointIsZero) {
  for (const char* kind : {"positive", "hyperbolic"}) {
    const auto map = make_feature_map(small(kind, "normalized"));
    initialize(*map, 3);
    for (const Pair& pair : pairs(d, 1))
      for (double estimate : estimates_of(*map, heads, pair.q, std::vector<double>(d)))
        EXPECT_NEAR(estimate, 1, is_double ? 1e-12 : 1e-5) << kind;
  }
}

/// Error of a ratio of means: var of phi(q) phi(k) - SM (phi(q) + phi(k)), over m; the squared bias
/// is negligible. Less than the plain one if SM > E / (2 (E - 1)), E = exp(|y_q|^2) + exp(|y_k|^2):
/// for these pairs, and not for opposite points.
TEST(NormalizedWeights, EstimateTheKernelOfTheirMap) {
  constexpr std::size_t repetitions = 400, draws = 4000;
  FeatureSpec spec = spec_of("positive", repetitions, d, draws);
  spec.weights = "normalized";
  const auto map = make_feature_map(spec);
  initialize(*map, 3);
  const auto plain = feature_maps().make("positive", spec);
  std::vector<Pair> all = pairs(d, 1);
  all.push_back({all[2].q, all[2].q});
  all.push_back({all[2].q, negative(all[2].q)});
  std::size_t better = 0, worse = 0;
  for (const Pair& pair : all) {
    const ScaledPair scaled(pair.q, pair.k);
    const double kernel = scaled.softmax(), E = std::exp(scaled.xx) + std::exp(scaled.yy);
    const double more = kernel * kernel * (E * (1 - 2 * kernel) + 2 * kernel) / draws;
    const Moments moments(estimates_of(*map, repetitions, pair.q, pair.k));
    EXPECT_NEAR(moments.mean, kernel, 5 * moments.mean_error() + 20.0 / draws);
    EXPECT_NEAR(moments.variance, *plain->variance(pair.q, pair.k) + more,
                5 * moments.variance_error());
    ++(more < 0 ? better : worse);
  }
  EXPECT_GT(better, 0u);
  EXPECT_GT(worse, 0u);
}

TEST(NormalizedWeights, RefuseSignedFeatures) {
  EXPECT_EQ(op_check::error_of([] { make_feature_map(small("fourier", "normalized")); }),
            "[fourier] weights = \"normalized\" requires positive features");
}

/// cos^2 + sin^2 of a frequency is its weight.
TEST(FixedWeights, AreThoseOfTheBoxForFourierFeatures) {
  FeatureSpec spec = small("fourier", "fixed");
  spec.box = 3;
  const auto map = make_feature_map(spec);
  initialize(*map, 1);
  Tape tape({.recording = false});
  const Tensor w = map->frequencies()->draws(tape).value();
  const Tensor z = map->features(tape, random_tensor({1, 1, heads, d}, 1)).values().value();
  for (std::size_t h = 0; h < heads; ++h) {
    const std::vector<double> rows(w.data() + h * m * d, w.data() + (h + 1) * m * d);
    const std::vector<double> xi = box_weights(rows, m, d, spec.box / std::sqrt(double(d)), true);
    const double total = std::accumulate(xi.begin(), xi.end(), 0.0);
    for (std::size_t i = 0; i < m; ++i) {
      const double cosine = z.data()[h * 2 * m + i], sine = z.data()[h * 2 * m + m + i];
      EXPECT_NEAR(cosine * cosine + sine * sine, xi[i] / total, is_double ? 1e-12 : 1e-5);
    }
  }
}

/// Refits by calibrate() and in training passes that are due.
TEST(FixedWeights, FollowTheFrequenciesOfAnyMap) {
  for (const char* kind : {"fourier", "hyperbolic", "hybrid_angular"}) {
    FeatureSpec spec = small(kind, "fixed");
    spec.refit = 10, spec.temperature = true;
    const auto after = [&](const std::function<void(FeatureMap&)>& happening) {
      const auto map = make_feature_map(spec);
      initialize(*map, 7);
      for (NamedParameter& named : parameters_of(*map))
        if (named.name.ends_with("log_scale")) named.parameter->value() += real(0.4);
      happening(*map);
      return both_sides(*map);
    };
    const auto pass = [&](std::uint64_t step, bool training) {
      return [=](FeatureMap& map) {
        Tape tape;
        tape.training = training, tape.step = step;
        map.queries(tape, random_tensor({1, 3, heads, d}, 2), 0);
      };
    };
    const auto left_behind = after([](FeatureMap&) {}), fitted = after(pass(20, true));
    EXPECT_NE(fitted, left_behind) << kind;
    EXPECT_EQ(after(pass(21, true)), left_behind) << kind;
    EXPECT_EQ(after(pass(20, false)), left_behind) << kind;
    EXPECT_EQ(after([](FeatureMap& map) { map.initialized(); }), fitted) << kind;
    EXPECT_EQ(after([](FeatureMap& map) {
                const Tensor samples = random_tensor({5, heads, d}, 3);
                map.calibrate(samples, samples);
              }),
              fitted)
        << kind;
  }
}

TEST(WeightedMaps, NeedTheCalibrationOfTheirMap) {
  for (const char* weights : {"none", "learned", "normalized", "fixed", "importance"}) {
    FeatureSpec spec = small("hybrid_cluster", weights);
    EXPECT_TRUE(make_feature_map(spec)->needs_calibration()) << weights;
    spec.temperature = true;
    EXPECT_TRUE(make_feature_map(spec)->needs_calibration()) << weights;
    EXPECT_FALSE(make_feature_map(small("positive", weights))->needs_calibration()) << weights;
  }
}

TEST(FixedWeights, AreOneBeforeTheirFrequenciesAreKnown) {
  for (const char* kind : {"fourier", "positive", "hybrid_angular", "nonstationary"}) {
    const auto fixed = both_sides(*make_feature_map(small(kind, "fixed")));
    const auto plain = both_sides(*make_feature_map(small(kind)));
    for (std::size_t side : {0, 1}) op_check::expect_near(fixed[side], plain[side]);
  }
}

TEST(WeightedMaps, SayWhatTheyNeed) {
  const auto error_of = [](const FeatureSpec& spec) {
    return op_check::error_of([&] { make_feature_map(spec); });
  };
  EXPECT_EQ(error_of(small("t2r", "fixed")),
            "[t2r] weights = \"fixed\" requires a map with frequencies");
  EXPECT_EQ(error_of(small("t2r", "importance")),
            "[t2r] weights = \"importance\" requires a map with frequencies");
  EXPECT_EQ(error_of(small("wpff", "learned")),
            "[wpff] the map has weights already: weights must be \"none\", not \"learned\"");
  EXPECT_EQ(error_of(small("pff", "lerned")),
            "[features] weights = \"lerned\"; there are: none, learned, normalized, fixed, "
            "importance");
  EXPECT_EQ(error_of(small("hybrid", "importance")),
            "[hybrid] weights = \"importance\" requires a map with frequencies");
  FeatureSpec spec = small("fourier", "fixed");
  spec.density.redraw = 5;
  EXPECT_EQ(error_of(spec),
            "[fourier] fixed weights belong to one set of frequencies: redraw must be 0, not 5");
  spec = small("fourier", "importance");
  spec.projection = "sorf";
  EXPECT_EQ(error_of(spec),
            "[fourier] weights = \"importance\" requires projection = \"density\", not \"sorf\"");
}

}  // namespace features_weights_test
}  // namespace bochner::inline BOCHNER_PRECISION
