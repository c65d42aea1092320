#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/features/feature_map.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using namespace layer_check;

FeatureSpec spec_of(std::size_t heads, std::size_t d, std::size_t m, const std::string& draws,
                    double log_scale) {
  FeatureSpec spec{"positive", heads, d, m, {}};
  spec.density.draws = draws;
  spec.density.heads = heads, spec.density.m = m, spec.density.dim = d;
  spec.density.log_scale = log_scale;
  return spec;
}

TEST(GaussianDensity, IsDifferentiable) {
  const auto density = make_density(spec_of(2, 3, 5, "orthogonal", -1).density);
  randomize(*density);
  EXPECT_EQ(names_of(*density), (std::vector<std::string>{"mean", "log_scale"}));
  EXPECT_EQ(buffers_of(*density).size(), 1u);
  check_layer(*density, random_tensor({2, 5, 3}, 1),
              [&](Tape& tape, const Var& noise) { return density->sample(tape, noise); });
  check_layer(*density, random_tensor({1}, 1),
              [&](Tape& tape, const Var&) { return density->draws(tape); });
}

TEST(PositiveFeatures, AreDifferentiable) {
  PositiveFeatures map(spec_of(2, 3, 5, "orthogonal", -1));
  randomize(map);
  check_layer(map, random_tensor({2, 4, 2, 3}, 1),
              [&](Tape& tape, const Var& x) { return map.features(tape, x).values(); });
}

/// Estimates of the kernel at (x, y), heads and seeds being independent repetitions; m = mean over
/// features.
struct Moments {
  double mean = 0, variance = 0, count = 0;
};

/// mean_i phi_i(x) phi_i(y) for `repetitions` heads with m features each.
Moments estimate(PositiveFeatures& map, std::size_t repetitions, std::size_t m, const Tensor& x,
                 const Tensor& y) {
  const std::size_t d = x.size();
  Tensor pair = uninitialized({1, 2, repetitions, d});
  for (std::size_t h = 0; h < repetitions; ++h) {
    std::copy_n(x.data(), d, pair.data() + h * d);
    std::copy_n(y.data(), d, pair.data() + (repetitions + h) * d);
  }
  Tape tape;
  tape.recording = false;
  const Tensor logarithms = map.features(tape, pair).values().value();
  Moments moments;
  moments.count = double(repetitions);
  std::vector<double> estimates(repetitions);
  for (std::size_t h = 0; h < repetitions; ++h) {
    for (std::size_t i = 0; i < m; ++i) {
      estimates[h] += std::exp(double(logarithms.data()[h * m + i]) +
                               double(logarithms.data()[(repetitions + h) * m + i])) /
                      double(m);
    }
    moments.mean += estimates[h] / moments.count;
  }
  for (double value : estimates)
    moments.variance += std::pow(value - moments.mean, 2) / (moments.count - 1);
  return moments;
}

/// A vector of the given length.
Tensor vector_of(std::size_t d, double length, std::uint64_t stream) {
  Tensor x = random_tensor({d}, stream);
  double square = 0;
  for (const real e : x) square += double(e) * double(e);
  for (real& e : x) e = real(double(e) * length / std::sqrt(square));
  return x;
}

struct Pair {
  Tensor x, y;
  double product = 0, sum_square = 0;  ///< x . y and |x + y|^2, both after scaling by d^(-1/4)
};

/// Pairs in d dimensions, up to `longest` long.
std::vector<Pair> pairs(std::size_t d, double longest) {
  std::vector<Pair> all;
  const double lengths[][2] = {{0.3, 0.5}, {0.9, 0.2}, {0.6, 0.6}, {1, 0.7}, {0.1, 1}};
  for (std::size_t i = 0; i < 5; ++i) {
    Pair pair{vector_of(d, longest * lengths[i][0], 2 * i),
              vector_of(d, longest * lengths[i][1], 2 * i + 1)};
    const double scale = 1 / std::sqrt(double(d));
    for (std::size_t e = 0; e < d; ++e) {
      const double x = double(pair.x.data()[e]), y = double(pair.y.data()[e]);
      pair.product += scale * x * y;
      pair.sum_square += scale * (x + y) * (x + y);
    }
    all.push_back(pair);
  }
  return all;
}

TEST(PositiveFeatures, EstimateTheSoftmaxKernelWithoutBias) {
  for (const char* draws : {"iid", "orthogonal"}) {
    for (std::size_t d : {1, 4, 16}) {
      const std::size_t repetitions = 4000, m = 2 * d;
      PositiveFeatures map(spec_of(repetitions, d, m, draws, 0));
      for (const Pair& pair : pairs(d, 1)) {
        const Moments moments = estimate(map, repetitions, m, pair.x, pair.y);
        EXPECT_NEAR(moments.mean, std::exp(pair.product),
                    5 * std::sqrt(moments.variance / moments.count))
            << draws << ", d " << d;
      }
    }
  }
}

/// (1/m) e^{|z|^2} SM^2 (1 - e^{-|z|^2}), z = x + y. The standard error of the measured variance
/// comes from the kurtosis of a lognormal variable; |z| is small enough for it to mean something.
TEST(PositiveFeatures, HaveTheirExactVariance) {
  for (std::size_t m : {1, 7}) {
    for (std::size_t d : {1, 4, 16}) {
      const std::size_t repetitions = 40000;
      PositiveFeatures map(spec_of(repetitions, d, m, "iid", 0));
      for (const Pair& pair : pairs(d, 0.4)) {
        const double w = std::exp(pair.sum_square), kernel = std::exp(pair.product);
        const double expected = w * kernel * kernel * (1 - 1 / w) / double(m);
        const double excess = std::pow(w, 4) + 2 * std::pow(w, 3) + 3 * std::pow(w, 2) - 6;
        const Moments moments = estimate(map, repetitions, m, pair.x, pair.y);
        EXPECT_NEAR(moments.variance / expected, 1,
                    5 * std::sqrt((excess / double(m) + 2) / moments.count))
            << "d " << d << ", m " << m << ", |z|^2 " << pair.sum_square;
        EXPECT_NEAR(moments.mean, kernel, 5 * std::sqrt(expected / moments.count));
      }
    }
  }
}

TEST(PositiveFeatures, HaveNoVarianceWhereTheirArgumentsCancel) {
  PositiveFeatures map(spec_of(50, 4, 3, "orthogonal", 0));
  const Tensor x = vector_of(4, 1, 1), y = -x;
  const Moments moments = estimate(map, 50, 3, x, y);
  EXPECT_NEAR(moments.mean, std::exp(-0.5), is_double ? 1e-14 : 1e-6);
  EXPECT_NEAR(moments.variance, 0, is_double ? 1e-28 : 1e-12);
}

/// E = exp(mu . (x + y) + sum s^2 (x + y)^2 / 2 - |x|^2 / 2 - |y|^2 / 2) for w ~ N(mu, s^2).
TEST(PositiveFeatures, HaveTheClosedFormOfTheLearnedDensity) {
  for (std::size_t d : {1, 3, 8}) {
    const std::size_t repetitions = 4000, m = d + 1;
    PositiveFeatures map(spec_of(repetitions, d, m, "orthogonal", 0));
    const Tensor mean = random_tensor({d}, 50), log_scale = random_tensor({d}, 51);
    for (const NamedParameter& named : parameters_of(map)) {
      const Tensor& from = named.name == "density.mean" ? mean : log_scale;
      for (std::size_t i = 0; i < repetitions * d; ++i)
        named.parameter->value().data()[i] = from.data()[i % d] / 3;
    }
    for (const Pair& pair : pairs(d, 1)) {
      const double scale = std::pow(double(d), -0.25);
      double exponent = 0;
      for (std::size_t e = 0; e < d; ++e) {
        const double x = scale * double(pair.x.data()[e]), y = scale * double(pair.y.data()[e]);
        const double variance = std::exp(2 * double(log_scale.data()[e]) / 3);
        exponent += double(mean.data()[e]) / 3 * (x + y) + variance * (x + y) * (x + y) / 2 -
                    x * x / 2 - y * y / 2;
      }
      const Moments moments = estimate(map, repetitions, m, pair.x, pair.y);
      EXPECT_NEAR(moments.mean, std::exp(exponent), 5 * std::sqrt(moments.variance / moments.count))
          << "d " << d;
    }
  }
}

TEST(FeatureMaps, AreFoundByName) {
  FeatureSpec spec = spec_of(1, 2, 3, "iid", 0);
  EXPECT_EQ(op_check::error_of([&] { feature_maps().make("psoitive", spec); }),
            "[features] no features is called \"psoitive\"; there are: positive");
}

}  // namespace
}  // namespace bochner::inline BOCHNER_PRECISION
