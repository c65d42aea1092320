#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/box_weights.hpp>
#include <bochner/layers/features/weights.hpp>
#include <numeric>
#include <set>

#include "layers/features_check.hpp"

/// lambda(x) over any map.
namespace bochner::inline BOCHNER_PRECISION {
namespace features_weights_test {

using namespace features_check;

constexpr std::size_t heads = 2, d = 4, m = 6;

FeatureSpec small(const std::string& kind, const std::string& weights = "none") {
  FeatureSpec spec = spec_of(kind, heads, d, m);
  spec.weights = weights, spec.hidden = 3, spec.lambda = 2, spec.length = 9;
  return spec;
}

/// All maps that have no weights of their own.
std::vector<std::string> plain_maps() {
  std::vector<std::string> names = feature_maps().names();
  std::erase_if(names, [](const std::string& name) { return name.starts_with("wpff"); });
  return names;
}

/// Features of queries and of keys; logarithms where the map gives them.
std::vector<Tensor> both_sides(FeatureMap& map) {
  Tape tape;
  tape.recording = false;
  const Tensor x = random_tensor({2, 5, heads, d}, 1);
  return {map.queries(tape, x).values().value(), map.keys(tape, x).values().value()};
}

/// Parameters of a map take the values that another one has under the same names.
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
    EXPECT_EQ(weighted->positive(), plain->positive()) << kind;
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
    Tape tape;
    tape.recording = false;
    const Tensor log_weights =
        weighted.log_weights(tape, random_tensor({2, 5, heads, d}, 1)).value();
    const std::size_t F = with[0].shape().back(), n = log_weights.shape().back();
    EXPECT_EQ(n, plain->frequencies() ? m : F) << kind;
    const bool logarithms =
        plain->keys(tape, zeros({1, 1, heads, d})).scale == FeatureScale::logarithmic;
    for (std::size_t side : {0, 1}) {
      for (std::size_t i = 0; i < with[side].size(); ++i) {
        const double log_weight = double(log_weights.data()[i / F * n + i % F % n]);
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

TEST(NormalizedWeights, MakeFeaturesOfTheSameSum) {
  for (const std::string& kind : plain_maps()) {
    if (!make_feature_map(small(kind))->positive()) continue;
    const auto map = make_feature_map(small(kind, "normalized"));
    randomize(*map);
    Tape tape;
    tape.recording = false;
    for (const Features& z : {map->queries(tape, random_tensor({2, 5, heads, d}, 1)),
                              map->keys(tape, random_tensor({2, 5, heads, d}, 1))}) {
      const Tensor values = z.values().value();
      const std::size_t F = values.shape().back();
      for (std::size_t i = 0; i < values.size(); i += F) {
        double total = 0;
        for (std::size_t f = 0; f < F; ++f) {
          const double value = values.data()[i + f];
          total += z.scale == FeatureScale::linear ? value : std::exp(value);
        }
        EXPECT_NEAR(total, std::sqrt(double(F)), is_double ? 1e-12 : 1e-4) << kind;
      }
    }
  }
}

/// SM(x, 0) = 1 for every draw, where the plain estimate is right in the mean only.
TEST(NormalizedWeights, AreExactWhereOnePointIsZero) {
  for (const char* kind : {"positive", "hyperbolic"}) {
    const auto map = make_feature_map(small(kind, "normalized"));
    initialize(*map, 3);
    for (const Pair& pair : pairs(d, 1))
      for (double estimate : estimates_of(*map, heads, pair.q, std::vector<double>(d)))
        EXPECT_NEAR(estimate, 1, is_double ? 1e-12 : 1e-5) << kind;
  }
}

/// The error of a ratio of means: var of phi(q) phi(k) - SM (phi(q) + phi(k) - 1), over m, to which
/// a bias of that size squared is nothing.
TEST(NormalizedWeights, EstimateTheKernelOfTheirMap) {
  constexpr std::size_t repetitions = 400, draws = 4000;
  FeatureSpec spec = spec_of("positive", repetitions, d, draws);
  spec.weights = "normalized";
  const auto map = make_feature_map(spec);
  initialize(*map, 3);
  for (const Pair& pair : pairs(d, 1)) {
    const double expected = *feature_maps().make("positive", spec)->kernel(pair.q, pair.k);
    const Moments moments(estimates_of(*map, repetitions, pair.q, pair.k));
    EXPECT_NEAR(moments.mean, expected, 5 * moments.mean_error() + 20.0 / draws);
    EXPECT_LT(moments.variance, *feature_maps().make("positive", spec)->variance(pair.q, pair.k));
  }
}

TEST(NormalizedWeights, RefuseSignedFeatures) {
  EXPECT_EQ(
      op_check::error_of([] { make_feature_map(small("fourier", "normalized")); }),
      "[fourier] weights = \"normalized\" divide by a sum of features, which must be positive");
}

/// cos^2 + sin^2 of a frequency is its weight.
TEST(FixedWeights, AreThoseOfTheBoxForFourierFeatures) {
  FeatureSpec spec = small("fourier", "fixed");
  spec.box = 3;
  const auto map = make_feature_map(spec);
  initialize(*map, 1);
  Tape tape;
  tape.recording = false;
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
            "[t2r] weights = \"fixed\" are those of frequencies, and it has none");
  EXPECT_EQ(error_of(small("t2r", "importance")),
            "[t2r] weights = \"importance\" are those of frequencies, and it has none");
  EXPECT_EQ(error_of(small("wpff", "learned")),
            "[wpff] it has weights already: weights must be \"none\", not \"learned\"");
  EXPECT_EQ(error_of(small("pff", "lerned")),
            "[features] no weights are called \"lerned\"; there are: none, learned, fixed, "
            "importance");
  FeatureSpec spec = small("fourier", "fixed");
  spec.density.redraw = 5;
  EXPECT_EQ(error_of(spec),
            "[fourier] its weights are those of one set of frequencies: redraw must be 0, not 5");
  spec = small("fourier", "importance");
  spec.projection = "sorf";
  EXPECT_EQ(error_of(spec),
            "[fourier] weights = \"importance\" are those of a density: projection must be "
            "\"density\", not \"sorf\"");
}

}  // namespace features_weights_test
}  // namespace bochner::inline BOCHNER_PRECISION
