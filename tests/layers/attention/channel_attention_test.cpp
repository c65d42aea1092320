#include <gmock/gmock.h>

#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/layers/attention/channel_attention.hpp>
#include <bochner/layers/mixers/mixer.hpp>
#include <bochner/layers/mixers/mixer_spec.hpp>
#include <cmath>
#include <tuple>

#include "layers/mixer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace channel_attention_test {

using namespace layer_check;
using op_check::error_of;
using op_check::expect_near;
using op_check::Op;
using Lengths = std::vector<std::size_t>;

struct Inputs {
  Tensor q, k, v, rate;
  std::vector<Tensor> list() const { return {q, k, v, rate}; }
};

/// Returns positive features, or their logarithms between -spread and spread.
Inputs random_inputs(const Shape& sizes, std::size_t d, const Shape& rates, FeatureScale scale,
                     double spread = 1) {
  Inputs in{random_tensor(sizes, 1), random_tensor(sizes, 2),
            random_tensor({sizes[0], sizes[1], sizes[2], d}, 3), random_tensor(rates, 4)};
  for (Tensor* x : {&in.q, &in.k})
    for (real& e : *x)
      e = scale == FeatureScale::logarithmic ? real(spread) * e : std::abs(e) + real(0.1);
  for (real& r : in.rate) r = real(0.05) * r * r * r * r;
  return in;
}

/// Computes outputs row by row with weights M o (phi(q) phi(k)^T), M = M_F + M_B - I in both
/// directions.
std::vector<double> dense(const Inputs& in, FeatureScale scale, bool causal,
                          const Lengths& lengths) {
  const Shape& s = in.q.shape();
  const std::size_t T = s[1], H = s[2], F = s[3], d = in.v.shape()[3], axes = in.rate.dimension();
  std::vector<double> y(in.v.size());
  const auto rate = [&](std::size_t row, std::size_t h, std::size_t f) {
    const std::size_t head = axes > 2 ? row : h;  // rates per token
    return double(in.rate.data()[axes % 2 == 0 ? head * F + f : head]);
  };
  for (std::size_t head = 0; head < s[0] * H; ++head) {
    const std::size_t b = head / H, h = head % H, length = lengths.empty() ? T : lengths[b];
    const auto row = [&](std::size_t t) { return (b * T + t) * H + h; };
    for (std::size_t i = 0; i < length; ++i) {
      std::vector<double> log_weights, weights;
      std::vector<std::size_t> tokens;
      double top = -1e300;
      for (std::size_t j = 0; j < length; ++j) {
        if (causal && j > i) continue;
        for (std::size_t f = 0; f < F; ++f) {
          double passed = 0;
          for (std::size_t t = std::min(i, j); t < std::max(i, j); ++t)
            passed += rate(row(j < i ? t + 1 : t), h, f);
          const double q = double(in.q.data()[row(i) * F + f]);
          const double k = double(in.k.data()[row(j) * F + f]);
          log_weights.push_back((scale == FeatureScale::logarithmic ? q + k : std::log(q * k)) -
                                passed);
          tokens.push_back(j);
          top = std::max(top, log_weights.back());
        }
      }
      double sum = 0;
      for (std::size_t n = 0; n < tokens.size(); ++n) sum += std::exp(log_weights[n] - top);
      for (std::size_t n = 0; n < tokens.size(); ++n)
        for (std::size_t e = 0; e < d; ++e)
          y[row(i) * d + e] +=
              std::exp(log_weights[n] - top) / sum * double(in.v.data()[row(tokens[n]) * d + e]);
    }
  }
  return y;
}

Op attention(FeatureScale scale, bool causal, const Lengths& lengths = {}, std::size_t chunk = 8) {
  return [=](Tape&, const std::vector<Var>& x) {
    return channel_attention({x[0], scale}, {x[1], scale}, x[2], x[3], {causal, chunk, lengths});
  };
}

TEST(ChannelAttention, EqualsTheDenseMatrixOfBothDirections) {
  const std::size_t B = 2, T = 19, H = 2, F = 5;
  for (FeatureScale scale : {FeatureScale::linear, FeatureScale::logarithmic}) {
    for (const Shape& rates : {Shape{H}, Shape{H, F}, Shape{B, T, H}, Shape{B, T, H, F}}) {
      for (bool causal : {true, false}) {
        for (const Lengths& lengths : {Lengths{}, Lengths{19, 8}}) {
          const Inputs in = random_inputs({B, T, H, F}, 3, rates, scale);
          const Tensor y = op_check::value_of(attention(scale, causal, lengths), in.list());
          const std::vector<double> expected = dense(in, scale, causal, lengths);
          for (std::size_t i = 0; i < y.size(); ++i)
            ASSERT_NEAR(y.data()[i], expected[i], is_double ? 1e-12 : 2e-5) << i;
        }
      }
    }
  }
}

/// Features from e^-300 to e^300, and rates that forget at once.
TEST(ChannelAttention, HoldsForFeaturesOfAnySize) {
  const std::size_t T = 23;
  for (bool causal : {true, false}) {
    Inputs in = random_inputs({1, T, 2, 4}, 3, {1, T, 2, 4}, FeatureScale::logarithmic, 100);
    for (std::size_t i = 0; i < in.rate.size(); i += 3) in.rate.data()[i] = 40;
    in.rate.data()[50] = 1e6;
    const auto op = attention(FeatureScale::logarithmic, causal);
    const auto results = op_check::value_and_gradients(op, in.list());
    const std::vector<double> expected = dense(in, FeatureScale::logarithmic, causal, {});
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(results[0].data()[i], expected[i], is_double ? 1e-10 : 2e-3) << i;
    for (const Tensor& x : results)
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(std::isfinite(x.data()[i]));
  }
}

TEST(ChannelAttention, HasTheGradientsOfDifferences) {
  if (!is_double) GTEST_SKIP() << "differences are taken in double";
  for (FeatureScale scale : {FeatureScale::linear, FeatureScale::logarithmic})
    for (bool causal : {true, false})
      for (const Shape& rates : {Shape{2}, Shape{2, 3}, Shape{2, 9, 2, 3}})
        op_check::expect_gradients(attention(scale, causal, {9, 5}, 4),
                                   random_inputs({2, 9, 2, 3}, 2, rates, scale).list());
}

MixerSpec spec_of(const std::string& features, const std::string& kind, bool causal = true) {
  MixerSpec spec;
  spec.kind = "linear";
  spec.width = 8, spec.heads = 2;
  spec.causal = causal;
  spec.features.kind = features;
  spec.features.m = 4;
  spec.features.length = 200;
  spec.time_kernel = {kind, 2, 30};
  spec.time_kernel.per = "channel";
  spec.time_kernel.rank = 3;
  spec.chunk = 4;
  return spec;
}

std::vector<MixerSpec> specs_of_all_maps() {
  std::vector<MixerSpec> specs;
  for (const std::string& map : feature_maps().names())
    for (const char* kind : {"decay", "gate"}) specs.push_back(spec_of(map, kind));
  for (const char* policy : {"smooth", "norm"}) {
    specs.push_back(spec_of("trigonometric", "gate"));
    specs.back().denominator.kind = policy;
  }
  specs.push_back(spec_of("wpff", "gate"));
  specs.back().convolution = 3, specs.back().rotary = true, specs.back().time_kernel.rank = 0;
  return specs;
}

std::string name_of(const MixerSpec& spec) {
  return spec.features.kind + ", " + spec.time_kernel.kind + ", " + spec.denominator.kind;
}

TEST(ChannelRates, StepByStepEqualTheBatchOfEveryMap) {
  for (const MixerSpec& spec : specs_of_all_maps()) {
    SCOPED_TRACE(name_of(spec));
    const auto mixer = mixers().make("linear", spec);
    initialize(*mixer, 3);
    expect_stream_equals_batch(*mixer, random_tensor({1, 40, 8}, 1), is_double ? 1e-12 : 5e-5);
  }
}

TEST(ChannelRates, NeverShowTheFutureToTheBit) {
  for (const MixerSpec& spec : specs_of_all_maps()) {
    SCOPED_TRACE(name_of(spec));
    const auto mixer = mixers().make("linear", spec);
    initialize(*mixer, 3);
    expect_past_only(*mixer, 8, 40);
  }
}

TEST(ChannelRates, SeePaddedSequencesAsTheyAreAlone) {
  std::vector<MixerSpec> specs = specs_of_all_maps();
  for (const char* per : {"head", "channel"}) {
    for (const char* kind : {"decay", "gate"}) {
      specs.push_back(spec_of("positive", kind, false));
      specs.back().time_kernel.per = per;
    }
  }
  for (const MixerSpec& spec : specs) {
    SCOPED_TRACE(name_of(spec));
    const auto mixer = mixers().make("linear", spec);
    initialize(*mixer, 3);
    expect_padding_changes_nothing(*mixer, 8, {0, 3, 19}, 20);
  }
}

TEST(ChannelRates, AreLearnedThroughAllTheirParameters) {
  for (bool causal : {true, false}) {
    for (const char* per : {"head", "channel"}) {
      for (const char* kind : {"decay", "gate"}) {
        for (const char* map : {"positive", "elu", "trigonometric"}) {
          MixerSpec spec = spec_of(map, kind, causal);
          spec.time_kernel.per = per;
          spec.denominator.kind = "smooth";  // clip has a kink
          SCOPED_TRACE(name_of(spec) + ", " + per);
          const auto mixer = mixers().make("linear", spec);
          randomize(*mixer, 0.4);
          check_layer(*mixer, random_tensor({2, 7, 8}, 1),
                      [&](Tape& tape, const Var& x) { return mixer->forward(tape, x); });
        }
      }
    }
  }
}

/// Two tokens at distance 2 decay like three tokens at distance 1.
TEST(ChannelRates, CountTheTimeBetweenTokens) {
  const auto mixer = mixers().make("linear", spec_of("positive", "decay"));
  initialize(*mixer, 3);
  Tensor gaps = filled({1, 12}, real(0.7));
  gaps(0, 5) = 9;
  expect_stream_equals_batch(*mixer, random_tensor({1, 12, 8}, 1), rounding, {.gaps = gaps});
}

/// A lag is the time between two tokens, from either side.
TEST(ChannelRates, SeeTheSameTimeFromBothEnds) {
  for (const char* per : {"head", "channel"}) {
    MixerSpec spec = spec_of("positive", "decay", false);
    spec.time_kernel.per = per;
    const auto mixer = mixers().make("linear", spec);
    initialize(*mixer, 3);
    const std::size_t T = 9;
    const Tensor x = random_tensor({1, T, 8}, 1);
    Tensor reversed = x, gaps = random_tensor({1, T}, 2), reversed_gaps = zeros({1, T});
    for (real& gap : gaps) gap = std::abs(gap);
    for (std::size_t t = 0; t < T; ++t) {
      std::copy_n(x.data() + t * 8, 8, reversed.data() + (T - 1 - t) * 8);
      if (t > 0) reversed_gaps(0, t) = gaps(0, T - t);
    }
    const Tensor a = output_of(*mixer, x, {.gaps = gaps});
    const Tensor b = output_of(*mixer, reversed, {.gaps = reversed_gaps});
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a.data()[i], b.data()[(T - 1 - i / 8) * 8 + i % 8], rounding);
  }
}

/// Channels of one frequency share an initial rate; rates of all heads go from shortest to longest.
TEST(ChannelRates, StartBetweenShortestAndLongest) {
  const auto mixer = mixers().make("linear", spec_of("trigonometric", "decay"));
  for (const NamedParameter& named : parameters_of(*mixer)) {
    if (named.name != "time_kernel.log_rate") continue;
    const Tensor& rates = named.parameter->value();
    ASSERT_EQ(to_string(rates.shape()), "(2, 8)");
    EXPECT_NEAR(rates(0, 0), -std::log(2), 1e-6);
    EXPECT_NEAR(rates(1, 3), -std::log(30), 1e-6);
    for (std::size_t h = 0; h < 2; ++h)
      for (std::size_t f = 0; f < 4; ++f) {
        EXPECT_EQ(rates(h, f), rates(h, f + 4));
        EXPECT_NEAR(rates(h, f), -std::log(2) - double(4 * h + f) / 7 * std::log(15), 1e-6);
      }
  }
}

void set(Module& module, const std::string& name, const Tensor& value) {
  for (const NamedParameter& named : parameters_of(module))
    if (named.name == name) return named.parameter->assign(value);
  FAIL() << "no parameter " << name;
}

/// Sums of `taylor` and `rebased` are positive, but not with a decay per feature: they need a
/// floor, here an unreachable one.
TEST(ChannelRates, HeedThePolicyWhereSingleFeaturesHaveSigns) {
  const Tensor x = random_tensor({1, 12, 8}, 1);
  for (const char* map : {"taylor", "rebased", "hybrid"}) {
    for (const bool temperature : {false, true}) {
      for (const char* per : {"head", "channel"}) {
        MixerSpec spec = spec_of(map, "decay");
        spec.features.estimators = {"positive", "taylor"};
        spec.features.lambdas = "learned";
        spec.features.temperature = temperature;
        spec.time_kernel.per = per;
        const auto moved = [&](double floor) {
          spec.denominator.floor = floor;
          const auto mixer = mixers().make("linear", spec);
          initialize(*mixer, 3);
          const Tensor y = output_of(*mixer, x, {});
          return std::abs(y(0, 11, 0) - y(0, 0, 0));
        };
        SCOPED_TRACE(name_of(spec) + ", " + per);
        EXPECT_EQ(moved(1e12) < 1e-5 * moved(1e-12), per == std::string("channel"));
      }
    }
  }
}

/// With features of size 1 and a constant of 1 weights stay nonnegative, so that outputs, means of
/// the tokens, lie between the smallest and the largest.
/// Weights of a very sharp kernel underflow in units of a head; those of channels do not.
TEST(LinearMixer, ComputesSharpKernelsAsWithRatesPerChannel) {
  MixerSpec spec = spec_of("positive", "decay");
  spec.time_kernel.shortest = spec.time_kernel.longest = 3;
  spec.normalize = "l2";
  const Tensor x = random_tensor({1, 300, spec.width}, 5);
  for (const double sharpness : is_double ? std::vector{5e4, 4e5} : std::vector{1e3, 1e4}) {
    spec.sharpness = sharpness;
    std::vector<Tensor> outputs;
    for (const char* per : {"head", "channel"}) {
      spec.time_kernel.per = per;
      const auto mixer = mixers().make("linear", spec);
      initialize(*mixer, 3);
      Tape tape;
      outputs.push_back(mixer->forward(tape, x).value());
    }
    expect_near(outputs[0], outputs[1], is_double ? 1e-9 : 1e-4);
  }
}

TEST(ChannelRates, LeaveAConstantThatKeepsWeightsPositive) {
  Tensor identity = zeros({8, 8});
  for (std::size_t i = 0; i < 8; ++i) identity(i, i) = 1;
  for (const char* kind : {"decay", "gate"}) {
    for (const bool causal : {true, false}) {
      SCOPED_TRACE(std::string(kind) + (causal ? "" : ", both directions"));
      MixerSpec spec = spec_of("fourier", kind, causal);
      spec.denominator.kind = "smooth";
      spec.time_kernel.shortest = 0.2, spec.time_kernel.longest = 200;
      const auto mixer = mixers().make("linear", spec);
      initialize(*mixer, 3);
      for (const char* map : {"query.weight", "key.weight"})
        set(*mixer, map, 20 * random_tensor({8, 8}, 4));
      for (const char* map : {"value.weight", "output.weight"}) set(*mixer, map, identity);
      const Tensor x = random_tensor({1, 60, 8}, 1), y = output_of(*mixer, x);
      for (std::size_t c = 0; c < 8; ++c) {
        double least = 1e9, most = -1e9;
        for (std::size_t t = 0; t < 60; ++t)
          least = std::min<double>(least, x(0, t, c)), most = std::max<double>(most, x(0, t, c));
        for (std::size_t t = 0; t < 60; ++t) {
          ASSERT_GE(y(0, t, c), least - 1e-5) << t;
          ASSERT_LE(y(0, t, c), most + 1e-5) << t;
        }
      }
    }
  }
}

TEST(ChannelRates, AreRefusedWhereTheyMeanNothing) {
  const auto error = [](const std::function<void(MixerSpec&)>& change) {
    MixerSpec spec = spec_of("positive", "decay");
    change(spec);
    return error_of([&] { mixers().make(spec.kind, spec); });
  };
  EXPECT_EQ(error([](MixerSpec& spec) { spec.window = 4; }),
            "[linear_attention] window requires rates per head; set time_kernel.per = \"head\"");
  EXPECT_EQ(error([](MixerSpec& spec) { spec.time_kernel.kind = "rotation"; }),
            "[time_kernel] per = \"channel\" needs kind = \"decay\" or \"gate\", not \"rotation\"");
  EXPECT_EQ(error([](MixerSpec& spec) { spec.kind = "softmax"; }),
            "[softmax] exact attention has rates per head; set time_kernel.per = \"head\"");
  EXPECT_THAT(error([](MixerSpec& spec) { spec.warm = "exact", spec.warm_steps = 3; }),
              testing::HasSubstr("set warm = \"none\" or time_kernel.per = \"head\""));
}

/// The first key is so large that its weight dominates even after T tokens.
TEST(ChannelAttention, KeepsSlowDecayBesideLargeLogarithms) {
  const std::tuple<double, double, double, std::size_t> cases[] = {
      {-1e5, 1000, 5e-3, 65537}, {-1e5, 1000, 3e-3, 65537}, {-1e6, 5000, 0.04, 5000},
      {-1e6, 5000, 0.025, 5000}, {-1e7, 3000, 0.6, 300},    {1e10, 1e5, 0.1, 64}};
  for (const auto& [level, above, rate, T] : cases) {
    Tensor q = filled({1, T, 1, 1}, real(level)), k = q, v = zeros({1, T, 1, 1});
    k(0, 0, 0, 0) += real(above);
    v(0, 0, 0, 0) = 1;
    const Features queries(q, FeatureScale::logarithmic), keys(k, FeatureScale::logarithmic);
    const Var rates(filled({1, 1}, real(rate)));
    const Var y = channel_attention(queries, keys, v, rates, {.causal = true});
    EXPECT_NEAR(y.data()[T - 1], 1, 1e-5) << level << ", " << rate;
    const Var both = channel_attention(queries, keys, v, rates, {.causal = false});
    EXPECT_TRUE(all_finite(both.data(), T)) << level << ", " << rate;
  }
}

}  // namespace channel_attention_test
}  // namespace bochner::inline BOCHNER_PRECISION
