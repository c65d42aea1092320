/// Tests of all registered feature maps in linear attention.

#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/frequencies.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <cstring>

#include "layers/features/features_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace feature_maps_test {

using namespace features_check;

constexpr std::size_t width = 8, heads = 2;
const std::size_t lengths[] = {1, 2, 7, 16, 17};

struct Variant {
  std::string features, projection = "density", denominator = "clip";
  bool temperature = false, smooth = false;
  double spread = 0;
  std::string weights = "none";
  std::string lambdas = "learned";
  std::vector<std::string> estimators = {"positive", "trigonometric", "hyperbolic"};
};

Variant weighted(const std::string& features, const std::string& weights) {
  return {features, "density", "clip", false, false, 0, weights};
}

std::string name_of(const Variant& variant) {
  return variant.features + "_" + variant.projection + "_" + variant.denominator +
         (variant.temperature ? "_temperature" : "") + (variant.smooth ? "_smooth" : "") +
         (variant.spread > 0 ? "_spread" : "") +
         (variant.weights != "none" ? "_" + variant.weights : "") +
         (variant.lambdas != "learned" ? "_" + variant.lambdas : "") +
         (variant.estimators.size() == 2 ? "_of_two" : "");
}

void PrintTo(const Variant& variant, std::ostream* out) { *out << name_of(variant); }

/// Returns all registered maps, and options that change one.
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const std::string& name : feature_maps().names()) all.push_back({name});
  for (const std::string& name : projections().names()) all.push_back({"positive", name});
  all.push_back({"trigonometric", "density", "smooth"});
  all.push_back({"fourier", "density", "norm"});
  all.push_back({"hybrid_angular", "density", "clip", false, true});
  all.push_back({"wpff", "fastfood", "clip", true});
  all.push_back({"positive", "density", "clip", true, false, 0.5});
  for (const char* name : {"fourier", "hyperbolic", "hybrid_angular", "hybrid_learned", "hedgehog"})
    all.push_back(weighted(name, "learned"));
  for (const char* name : {"positive", "hyperbolic", "elu", "hybrid_learned"})
    all.push_back(weighted(name, "normalized"));
  for (const char* name : {"fourier", "oprf", "hybrid_cluster"})
    all.push_back(weighted(name, "fixed"));
  for (const char* name : {"fourier", "positive", "nonstationary", "hybrid_gaussian"})
    all.push_back(weighted(name, "importance"));
  // Central differences fail where sums of signed weights nearly vanish.
  for (const char* lambdas : {"gaussian", "angular", "clusters"})
    all.push_back({.features = "hybrid", .denominator = "smooth", .lambdas = lambdas});
  all.push_back({.features = "hybrid", .smooth = true, .lambdas = "angular"});
  all.push_back({.features = "hybrid", .estimators = {"aderf", "pff"}});
  all.push_back({.features = "hybrid", .lambdas = "clusters", .estimators = {"cosformer", "wpff"}});
  return all;
}

MixerSpec spec_of(const Variant& variant) {
  MixerSpec spec;
  spec.width = width, spec.heads = heads;
  spec.features.kind = variant.features;
  spec.features.m = 5;
  spec.features.lambda = 2;
  spec.features.hidden = 3;
  spec.features.projection = variant.projection;
  spec.features.temperature = variant.temperature;
  spec.features.smooth = variant.smooth;
  spec.features.spread = variant.spread;
  spec.features.weights = variant.weights;
  spec.features.lambdas = variant.lambdas;
  spec.features.estimators = variant.estimators;
  spec.features.length = 70;
  spec.denominator.kind = variant.denominator;
  spec.time_kernel = {"decay", 2, 30};
  spec.chunk = 4;
  return spec;
}

/// Perturbs parameters, so that no gradient is zero by accident.
void disturb(Module& module) {
  initialize(module, 3);
  for (const NamedParameter& named : parameters_of(module)) {
    const RandomFunction random{5, Purpose::test, stream_of(named.name.c_str())};
    Tensor& value = named.parameter->value();
    for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] += real(0.2 * random.normal(i));
  }
}

std::unique_ptr<Mixer> make_mixer(const MixerSpec& spec) {
  auto mixer = mixers().make("linear", spec);
  disturb(*mixer);
  return mixer;
}

Tensor output(Mixer& mixer, const Tensor& x) {
  Tape tape({.recording = false});
  return mixer.forward(tape, x).value();
}

class FeatureMaps : public ::testing::TestWithParam<Variant> {};

TEST_P(FeatureMaps, AreDifferentiableThroughAllTheirParameters) {
  const auto mixer = make_mixer(spec_of(GetParam()));
  check_layer(*mixer, random_tensor({1, 6, width}, 1),
              [&](Tape& tape, const Var& x) { return mixer->forward(tape, x); });
  parameter_gradients(*mixer, [&](Tape& tape) {
    return mixer->forward(tape, random_tensor({1, 6, width}, 1));
  });
}

TEST_P(FeatureMaps, NeverSeeTheFutureToTheBit) {
  const auto mixer = make_mixer(spec_of(GetParam()));
  Tensor x = random_tensor({1, 23, width}, 1);
  const Tensor before = output(*mixer, x);
  for (std::size_t t = 22; t > 0; t -= 2) {
    for (std::size_t e = 0; e < width; ++e) x.data()[t * width + e] += real(1.7);
    const Tensor after = output(*mixer, x);
    ASSERT_EQ(std::memcmp(after.data(), before.data(), t * width * sizeof(real)), 0) << t;
    ASSERT_NE(std::memcmp(after.data(), before.data(), after.size() * sizeof(real)), 0) << t;
  }
}

TEST_P(FeatureMaps, StepByStepEqualTheBatchForAllLengths) {
  const auto mixer = make_mixer(spec_of(GetParam()));
  for (std::size_t T : lengths) {
    const Tensor x = random_tensor({1, T, width}, T);
    const Tensor batch = output(*mixer, x);
    const auto state = mixer->start();
    Tape tape({.recording = false});
    for (std::size_t t = 0; t < T; ++t) {
      Tensor token = uninitialized({1, 1, width});
      std::copy_n(x.data() + t * width, width, token.data());
      const Tensor y = mixer->step(tape, token, *state).value();
      for (std::size_t e = 0; e < width; ++e) {
        const double expected = batch.data()[t * width + e];
        ASSERT_NEAR(y.data()[e], expected,
                    (is_double ? 1e-11 : 2e-3) * std::max(1.0, std::abs(expected)))
            << t;
      }
    }
  }
}

TEST_P(FeatureMaps, DoNotDependOnTheChunk) {
  MixerSpec spec = spec_of(GetParam());
  const Tensor x = random_tensor({2, 17, width}, 1);
  const Tensor expected = output(*make_mixer(spec), x);
  for (std::size_t chunk : {1, 7, 64}) {
    spec.chunk = chunk;
    op_check::expect_near(output(*make_mixer(spec), x), expected, is_double ? 1e-12 : 2e-3);
  }
}

TEST_P(FeatureMaps, BothDirectionsWork) {
  MixerSpec spec = spec_of(GetParam());
  spec.causal = false;
  spec.time_kernel.kind = "none";
  const auto mixer = make_mixer(spec);
  for (std::size_t T : lengths) {
    const Tensor y = output(*mixer, random_tensor({2, T, width}, T));
    for (real e : y) ASSERT_TRUE(std::isfinite(e));
  }
  check_layer(*mixer, random_tensor({1, 5, width}, 1),
              [&](Tape& tape, const Var& x) { return mixer->forward(tape, x); });
}

/// A token whose weights are all 0, as with relu, gives 0.
TEST_P(FeatureMaps, GiveOneWhereAllValuesAreOne) {
  const MixerSpec mixer = spec_of(GetParam());
  FeatureSpec spec = mixer.features;
  spec.heads = spec.density.heads = heads, spec.dim = spec.density.dim = width / heads;
  spec.density.m = spec.m;
  const auto map = make_feature_map(spec);
  disturb(*map);
  const std::size_t T = 17;
  Tape tape({.recording = false});
  const Features q = map->queries(tape, random_tensor({2, T, heads, spec.dim}, 1));
  const Features k = map->keys(tape, random_tensor({2, T, heads, spec.dim}, 2));
  if (q.scale == FeatureScale::linear && !map->positive()) return;
  const Tensor ones = filled({2, T, heads, 3}, real(1));
  const Tensor y = linear_attention(q, k, ones, {}, {.chunk = 4}).value();
  std::size_t right = 0;
  for (real e : y) {
    right += std::abs(e - 1) < (is_double ? 1e-12 : 1e-5);
    ASSERT_TRUE(e == 0 || std::abs(e - 1) < (is_double ? 1e-12 : 1e-5)) << e;
  }
  EXPECT_GT(right, y.size() * 8 / 10);
}

TEST_P(FeatureMaps, ArePositiveIfTheySaySo) {
  FeatureSpec spec = spec_of(GetParam()).features;
  spec.heads = spec.density.heads = 500, spec.dim = spec.density.dim = 4;
  spec.density.m = spec.m = 1;
  const auto map = make_feature_map(spec);
  bool negative = false;
  for (const Pair& pair : pairs(4, 2)) {
    for (double estimate : estimates_of(*map, 500, pair.q, pair.k)) negative |= estimate < 0;
  }
  EXPECT_EQ(!negative, map->positive());
}

INSTANTIATE_TEST_SUITE_P(All, FeatureMaps, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return name_of(info.param); });

TEST(Denominators, RefuseSignedFeatures) {
  const Tensor x = random_tensor({1, 3, width}, 1);
  const auto error_of = [&](const Variant& variant) {
    return op_check::error_of([&] { output(*make_mixer(spec_of(variant)), x); });
  };
  EXPECT_EQ(error_of({"trigonometric", "density", "refuse"}),
            "[linear_attention] features must be positive for policy \"refuse\": trigonometric "
            "features are signed; choose policy \"clip\" or \"smooth\"");
  EXPECT_EQ(error_of({"positive", "density", "refuse"}), "no error");
  EXPECT_EQ(error_of({"positive", "density", "hope"}),
            "[mixer] denominator.kind = \"hope\"; there are: clip, smooth, norm, refuse");
}

/// "smooth" adds its constant to the kernel: a large one makes attention a mean.
TEST(Denominators, SmoothTowardsTheMean) {
  MixerSpec spec = spec_of({"trigonometric", "density", "smooth"});
  spec.time_kernel.kind = "none";
  spec.denominator.constant = 1e8;
  const Tensor x = random_tensor({1, 9, width}, 1);
  const Tensor y = output(*make_mixer(spec), x);
  spec.features.kind = "positive", spec.denominator.kind = "clip";
  const auto mean = make_mixer(spec);
  for (const NamedParameter& named : parameters_of(*mean)) {
    if (named.name.starts_with("query")) named.parameter->value().fill(0);
    if (named.name.starts_with("key")) named.parameter->value().fill(0);
  }
  op_check::expect_near(y, output(*mean, x), is_double ? 1e-5 : 1e-3);
}

TEST(Denominators, ChangeNothingWhereFeaturesArePositive) {
  const Tensor x = random_tensor({1, 9, width}, 1);
  const Tensor expected = output(*make_mixer(spec_of({"hyperbolic"})), x);
  for (const char* policy : {"smooth", "refuse"}) {
    op_check::expect_equal_bits(output(*make_mixer(spec_of({"hyperbolic", "density", policy})), x),
                                expected);
  }
}

}  // namespace feature_maps_test
}  // namespace bochner::inline BOCHNER_PRECISION
