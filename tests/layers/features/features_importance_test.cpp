#include <bochner/layers/features/closed_forms.hpp>
#include <bochner/layers/features/weights.hpp>

#include "layers/features/features_check.hpp"
#include "layers/spectral/density_check.hpp"

/// Importance sampling of frequencies.
namespace bochner::inline BOCHNER_PRECISION {
namespace features_importance_test {

using namespace features_check;

FeatureSpec importance(const std::string& kind, std::size_t heads, std::size_t d, std::size_t m,
                       const std::string& target = "gaussian",
                       const std::string& proposal = "gaussian", double scale = 1.3) {
  FeatureSpec spec = spec_of(kind, heads, d, m);
  spec.weights = "importance";
  spec.density.kind = target, spec.density.proposal = proposal;
  spec.density.proposal_scale = scale;
  spec.density.temperature = 0;
  return spec;
}

/// Copies the parameters of the first head to all heads.
void make_heads_equal(Module& module, std::size_t heads) {
  for (const NamedParameter& named : parameters_of(module)) {
    Tensor& value = named.parameter->value();
    const std::size_t count = value.size() / heads;
    for (std::size_t i = count; i < value.size(); ++i) value.data()[i] = value.data()[i % count];
  }
}

/// Mean and variance over q of p/q cos(w lag), in one dimension, by quadrature.
struct Exact {
  double mean, variance;
};
Exact exact_of(const PointFunction& log_p, const PointFunction& log_q, double lag) {
  const double mean =
      density_check::integral([&](double w) { return std::exp(log_p(&w)) * std::cos(w * lag); });
  const double second = density_check::integral([&](double w) {
    return std::exp(2 * log_p(&w) - log_q(&w)) * std::pow(std::cos(w * lag), 2);
  });
  return {mean, second - mean * mean};
}

/// Three pairs (p, q): unbiased to 5 sigma, variance within 3 % of the exact one.
TEST(ImportanceSampling, HasTheMeanAndTheExactVarianceOfItsPair) {
  const std::size_t heads = 50000;
  for (const auto& [target, proposal] :
       {std::pair{"gaussian", "student_t"}, {"laplace", "cauchy"}, {"mixture", "gaussian"}}) {
    const auto map = make_feature_map(importance("fourier", heads, 1, 1, target, proposal, 2));
    initialize(*map, 5);
    make_heads_equal(*map, heads);
    const Frequencies& frequencies = *map->frequencies();
    const PointFunction log_p = frequencies.density()->log_density(0);
    const PointFunction log_q = frequencies.proposal()->density().log_density(0);
    for (const double lag : {0.4, 1.5}) {
      const Moments moments(estimates_of(*map, heads, {lag + 0.3}, {0.3}));
      const Exact exact = exact_of(log_p, log_q, lag);
      const std::string what = std::string(target) + " by " + proposal;
      EXPECT_NEAR(moments.mean, exact.mean, 5 * moments.mean_error()) << what;
      EXPECT_NEAR(moments.variance / exact.variance, 1, 0.03) << what << ", lag " << lag;
    }
  }
}

TEST(ImportanceSampling, HasItsClosedFormsWithGaussians) {
  for (const char* kind : {"fourier", "trigonometric", "positive", "hyperbolic", "pff"}) {
    for (std::size_t d : {1, 4}) {
      for (std::size_t m : {1, 3}) expect_closed_forms(importance(kind, 20000, d, m), 0.5);
    }
  }
}

/// For q = p all weights are 1.
TEST(ImportanceSampling, IsTheMapItselfWhereTheProposalIsTheDensity) {
  for (const char* kind : {"fourier", "positive", "hyperbolic", "hybrid_angular", "oprf"}) {
    FeatureSpec spec = importance(kind, 3, 4, 5, "gaussian", "gaussian", 1);
    const auto weighted = make_feature_map(spec);
    spec.weights = "none";
    const auto plain = make_feature_map(spec);
    for (const Pair& pair : pairs(4, 1)) {
      const auto with = estimates_of(*weighted, 3, pair.q, pair.k);
      const auto without = estimates_of(*plain, 3, pair.q, pair.k);
      for (std::size_t h = 0; h < 3; ++h)
        EXPECT_NEAR(with[h], without[h], (is_double ? 1e-12 : 1e-4) * std::abs(without[h])) << kind;
      EXPECT_EQ(weighted->kernel(pair.q, pair.k), plain->kernel(pair.q, pair.k));
      if (weighted->variance(pair.q, pair.k)) {
        EXPECT_NEAR(*weighted->variance(pair.q, pair.k) / *plain->variance(pair.q, pair.k), 1,
                    1e-5);
      }
    }
  }
}

/// Every density with a log density, with moved parameters, and a proposal of heavier tails.
TEST(ImportanceSampling, HasNoBiasForAnyDensity) {
  const std::size_t m = 5000, d = 2;
  for (const std::string& target : densities().names()) {
    if (target == "free") continue;
    const auto map = make_feature_map(importance("fourier", 1, d, m, target, "cauchy", 1));
    randomize(*map, 0.3);
    const PointFunction kernel = map->frequencies()->density()->kernel(0);
    if (!kernel) continue;
    auto& weighted = dynamic_cast<ImportanceWeights&>(*map);
    const double error = 1 / std::sqrt(weighted.effective_size(0));  // upper bound
    const std::vector<Pair> all = pairs(d, 1);
    for (const Pair& pair : {all[0], all[3]}) {
      std::vector<double> lag = ScaledPair(pair.q, pair.k).x;
      for (std::size_t e = 0; e < d; ++e) lag[e] -= ScaledPair(pair.q, pair.k).y[e];
      EXPECT_NEAR(estimates_of(*map, 1, pair.q, pair.k)[0], kernel(lag.data()), 5 * error)
          << target;
    }
  }
}

/// Positive features with a Gaussian proposal of scale s are OPRF with A = (1 - s^2) / 4, per draw.
TEST(ImportanceSampling, OfPositiveFeaturesByAGaussianIsOptimalFeatures) {
  for (const double scale : {1.1, 1.5}) {
    FeatureSpec spec = importance("positive", 3, 4, 5, "gaussian", "gaussian", scale);
    const auto weighted = make_feature_map(spec);
    spec.weights = "none", spec.kind = "oprf";
    const auto optimal = make_feature_map(spec);
    for (const NamedParameter& named : parameters_of(*optimal)) {
      if (named.name == "log_rho")
        named.parameter->value().fill(real(-std::log(2 * scale * scale - 1)));
    }
    for (const Pair& pair : pairs(4, 1)) {
      const auto here = estimates_of(*weighted, 3, pair.q, pair.k);
      const auto there = estimates_of(*optimal, 3, pair.q, pair.k);
      for (std::size_t h = 0; h < 3; ++h)
        EXPECT_NEAR(here[h] / there[h], 1, is_double ? 1e-12 : 1e-4);
      EXPECT_NEAR(*weighted->variance(pair.q, pair.k) / *optimal->variance(pair.q, pair.k), 1,
                  is_double ? 1e-11 : 1e-4);
    }
  }
}

/// Returns the sum of the variances of 48 x 48 pairs, relative to their rows' sums.
double attention_error(const FeatureMap& map, const Tensor& q, const Tensor& k) {
  double error = 0;
  for (std::size_t i = 0; i < 48 * 8; i += 8) {
    const std::vector<double> x(q.data() + i, q.data() + i + 8);
    double sum = 0, variance = 0;
    for (std::size_t j = 0; j < 48 * 8; j += 8) {
      const std::vector<double> y(k.data() + j, k.data() + j + 8);
      sum += map.kernel(x, y).value(), variance += map.variance(x, y).value();
    }
    error += variance / (sum * sum);
  }
  return error;
}

TEST(ImportanceSampling, FindsTheProposalOfLeastError) {
  const Tensor q = random_tensor({48, 1, 8}, 1), k = random_tensor({48, 1, 8}, 2);
  for (const char* kind : {"positive", "hyperbolic"}) {
    FeatureSpec spec = importance(kind, 1, 8, 1, "gaussian", "gaussian", 1.05);
    const auto found = make_feature_map(spec);
    found->calibrate(q, k);
    const double least = attention_error(*found, q, k);
    for (const double scale : {1.0, 1.2, 1.4, 1.6, 2.0, 2.5}) {
      spec.density.proposal_scale = scale;
      EXPECT_LE(least, attention_error(*make_feature_map(spec), q, k) * (1 + 1e-4))
          << kind << ", scale " << scale;
    }
    spec.weights = "none";
    EXPECT_LT(least, 0.7 * attention_error(*make_feature_map(spec), q, k)) << kind;
  }
}

/// All heads get one factor and keep the target's spread.
TEST(ImportanceSampling, WidensHeadsThatStandApartAlike) {
  FeatureSpec spec = importance("positive", 2, 4, 8);
  spec.density.spread = 0.5;
  const auto map = make_feature_map(spec);
  initialize(*map, 3);
  map->calibrate(random_tensor({48, 2, 4}, 1), random_tensor({48, 2, 4}, 2));
  const Frequencies& frequencies = *map->frequencies();
  const auto widening = [&](std::size_t head) {
    return frequencies.proposal()->density().gaussian(head)->log_scale[0] -
           frequencies.density()->gaussian(head)->log_scale[0];
  };
  EXPECT_NEAR(widening(0), widening(1), 1e-6);
}

TEST(ImportanceSampling, KnowsItsEffectiveSampleSize) {
  EXPECT_DOUBLE_EQ(effective_sample_size({3, 3, 3, 3}), 4);
  EXPECT_NEAR(effective_sample_size({0, std::log(3)}), 1.6, 1e-12);
  EXPECT_NEAR(effective_sample_size({800, -800}), 1, 1e-12);
  const std::size_t m = 20000;
  for (const double scale : {1.0, 1.4}) {
    const auto map =
        make_feature_map(importance("fourier", 1, 2, m, "gaussian", "gaussian", scale));
    const double second = std::pow(scale * scale / std::sqrt(2 * scale * scale - 1), 2);
    auto& weighted = dynamic_cast<ImportanceWeights&>(*map);
    EXPECT_NEAR(weighted.effective_size(0) / double(m), 1 / second, 0.02);
  }
}

/// p learns, q does not.
TEST(ImportanceSampling, FreezesTheProposal) {
  const auto map = make_feature_map(importance("fourier", 2, 3, 5, "gaussian", "mixture"));
  EXPECT_EQ(names_of(*map), (std::vector<std::string>{"density.mean", "density.log_scale"}));
  std::vector<std::string> buffers;
  for (const NamedTensor& named : buffers_of(*map)) buffers.push_back(named.name);
  EXPECT_EQ(buffers,
            (std::vector<std::string>{"density.noise", "proposal.mean", "proposal.log_scale",
                                      "proposal.logits", "proposal.noise"}));
}

TEST(ImportanceSampling, SaysWhichDensitiesHaveNoLogDensity) {
  const auto error_of = [](const FeatureSpec& spec) {
    return op_check::error_of([&] {
      const auto map = make_feature_map(spec);
      Tape tape;
      map->features(tape, zeros({1, 1, 1, 2}));
    });
  };
  EXPECT_EQ(error_of(importance("fourier", 1, 2, 3, "free")),
            "[density] \"free\" has no log density on the tape");
  EXPECT_EQ(error_of(importance("fourier", 1, 2, 3, "gaussian", "free")),
            "[density] \"free\" has no log density and cannot be a proposal");
}

TEST(ImportanceMoments, AreThoseOfTheNormalWhereTheProposalIsTheDensity) {
  const GaussianAxes p{{0.3, -0.2}, {0.1, -0.4}};
  const std::vector<double> z = {0.7, -0.5};
  const double shift = 0.3 * 0.7 + 0.2 * 0.5;
  const double square = std::pow(0.7 * std::exp(0.1), 2) + std::pow(0.5 * std::exp(-0.4), 2);
  EXPECT_NEAR(importance_moment(p, p)(2, z), std::exp(2 * shift + 2 * square), 1e-12);
  EXPECT_NEAR(importance_moment(p, p)({0, 2}, z), std::exp(-2 * square) * std::cos(2 * shift),
              1e-12);
  GaussianAxes narrow = p;
  narrow.log_scale[1] -= 0.35;
  EXPECT_TRUE(std::isinf(importance_moment(p, narrow)(2, z)));
}

/// The frequencies come from the proposal and follow its redraws.
TEST(ImportanceSampling, DrawsAnewInTraining) {
  FeatureSpec spec = importance("fourier", 1, 2, 4);
  spec.density.redraw = 5;
  const auto map = make_feature_map(spec);
  initialize(*map, 1);
  const auto at = [&](std::uint64_t step) {
    Tape tape({.training = true, .recording = false});
    tape.step = step;
    return map->frequencies()->draws(tape).value();
  };
  const Tensor first = at(0);
  EXPECT_EQ(at(4), first);
  EXPECT_NE(at(5), first);
}

}  // namespace features_importance_test
}  // namespace bochner::inline BOCHNER_PRECISION
