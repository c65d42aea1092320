#include <bochner/layers/models/variational_autoencoder.hpp>
#include <bochner/layers/probability/gaussian_mixture.hpp>
#include <cmath>
#include <numeric>

#include "layers/models/vae_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace variational_autoencoder_test {

using namespace vae_check;

TEST(VariationalAutoencoder, IsDifferentiableThroughAllItsParameters) {
  for (const char* observed : {"binary", "real", "symbols"})
    for (const char* pooling : {"each", "mean"}) {
      SCOPED_TRACE(std::string(observed) + ", " + pooling);
      const VaeSpec spec = tiny(observed, pooling);
      VariationalAutoencoder model(spec);
      randomize(model, 0.4);
      const Observed x = examples(spec);
      check_layer(model, random_tensor({1}, 1), [&](Tape& tape, const Var&) {
        return model.loss(tape, x, random_tensor({2, 3, 3}, 2));
      });
    }
}

TEST(VariationalAutoencoder, TakesAnyMixerOnBothSides) {
  for (const char* mixer : {"linear", "ssm", "min_gru", "hyena"}) {
    VaeSpec spec = tiny("binary");
    spec.stack.block.mixer.kind = mixer;
    spec.stack.block.mixer.features.m = 4;
    spec.latent.decoder_blocks = 2;
    VariationalAutoencoder model(spec);
    initialize(model, 1);
    Tape tape;
    tape.training = true;
    const Var loss = model.loss(tape, examples(spec), random_tensor({2, 3, 3}, 2));
    EXPECT_TRUE(std::isfinite(double(loss.value()()))) << mixer;
    tape.backward(loss);
    const std::vector<std::string> names = names_of(model);
    EXPECT_EQ(std::ranges::count(names, "decoder.blocks.1.mixer_norm.gain"), 1);
  }
}

/// Probabilities of all binary images, or of all texts, given a latent variable.
TEST(VariationalAutoencoder, SaysProbabilitiesThatAddUp) {
  for (const char* observed : {"binary", "symbols"}) {
    VaeSpec spec = tiny(observed);
    const bool binary = spec.observed == "binary";
    spec.tokens = 2, spec.vocabulary = 5;
    VariationalAutoencoder model(spec);
    randomize(model, 0.5);
    const std::size_t all = binary ? 16 : 25;
    Observed x = binary ? Observed{zeros({all, 2, 2}), {}} : Observed{{}, {{all, 2}, {}}};
    for (std::size_t i = 0; i < all; ++i)
      for (std::size_t j = 0; j < (binary ? 4 : 2); ++j)
        if (binary)
          x.values.data()[4 * i + j] = real(i >> j & 1);
        else
          x.symbols.values.push_back(std::int32_t(j == 0 ? i / 5 : i % 5));
    Tensor z = zeros({1, all, 3});
    for (std::size_t i = 0; i < z.size(); ++i) z.data()[i] = real(0.3 * double(i % 3));
    Tape tape({.recording = false});
    double total = 0;
    for (const real log_p : model.log_likelihood(tape, x, Var(z)).value())
      total += std::exp(double(log_p));
    EXPECT_NEAR(total, 1, is_double ? 1e-10 : 1e-5) << observed;
  }
}

TEST(VariationalAutoencoder, CountsTheDivergenceAsTheWarmUpSays) {
  VaeSpec spec = tiny("binary");
  spec.latent.warmup = 8;
  VariationalAutoencoder model(spec);
  randomize(model, 0.5);
  const Observed x = examples(spec);
  const auto loss = [&](bool training, std::uint64_t step) {
    Tape tape;
    tape.training = training, tape.step = step;
    return double(model.loss(tape, x, random_tensor({2, 3, 3}, 2)).value()());
  };
  const std::vector<double> each = bounds_of(model, x, random_tensor({1, 3, 3}, 1)).divergence;
  const double divergence = std::accumulate(each.begin(), each.end(), 0.0) / 3;
  EXPECT_GT(divergence, 0.1);
  for (const std::uint64_t step : {0, 3, 7, 100}) {
    const double weight = std::min(1.0, double(step + 1) / 8);
    EXPECT_NEAR(loss(false, step) - loss(true, step), (1 - weight) * divergence,
                is_double ? 1e-10 : 1e-4);
  }
}

/// More draws give a tighter bound; with one draw it is the evidence lower bound.
TEST(VariationalAutoencoder, BoundsGrowWithTheirDraws) {
  const VaeSpec spec = tiny("binary");
  VariationalAutoencoder model(spec);
  randomize(model, 0.7);
  const std::size_t B = 200;
  const Observed x = examples(spec, B);
  const auto mean_of = [&](std::size_t K) {
    const LatentBounds bounds = bounds_of(model, x, random_tensor({K, B, 3}, 5));
    double weighted = 0, plain = 0;
    for (std::size_t b = 0; b < B; ++b) {
      weighted += bounds.weighted[b] / double(B);
      plain += (bounds.reconstruction[b] - bounds.divergence[b]) / double(B);
    }
    return std::pair(weighted, plain);
  };
  const auto [one, elbo] = mean_of(1);
  EXPECT_NEAR(one, elbo, 0.3);
  EXPECT_GT(mean_of(8).first, mean_of(8).second + 0.05);
  EXPECT_GT(mean_of(64).first, mean_of(8).first);
}

/// The score-function gradient has the mean of the reparameterized one, also in the encoder.
TEST(VariationalAutoencoder, GradientsOfBothKindsAgree) {
  constexpr std::size_t repeats = 800;
  std::vector<double> means[2], variances[2];
  for (const int kind : {0, 1}) {
    VaeSpec spec = tiny("binary");
    spec.latent.gradient = kind == 0 ? "reparameterised" : "score";
    spec.latent.draws = 4;
    VariationalAutoencoder model(spec);
    randomize(model, 0.4);
    const Observed x = examples(spec);
    Parameter* weight = nullptr;
    for (const NamedParameter& named : parameters_of(model))
      if (named.name == "to_latent.bias") weight = named.parameter;
    ASSERT_TRUE(weight);
    means[kind].resize(weight->value().size()), variances[kind].resize(weight->value().size());
    for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
      for (const NamedParameter& named : parameters_of(model)) named.parameter->zero_gradient();
      Tape tape;
      tape.backward(model.loss(tape, x, random_tensor({4, 3, 3}, 2 * repeat + std::size_t(kind))));
      for (std::size_t i = 0; i < means[kind].size(); ++i) {
        const double g = double(weight->gradient().data()[i]);
        means[kind][i] += g / repeats, variances[kind][i] += g * g / repeats;
      }
    }
    for (std::size_t i = 0; i < means[kind].size(); ++i)
      variances[kind][i] -= means[kind][i] * means[kind][i];
  }
  double ratio = 0;
  for (std::size_t i = 0; i < means[0].size(); ++i) {
    const double error = std::sqrt((variances[0][i] + variances[1][i]) / repeats);
    EXPECT_NEAR(means[0][i], means[1][i], 5 * error) << "element " << i;
    ratio += variances[1][i] / variances[0][i] / double(means[0].size());
  }
  std::printf("variance of the score function over that of reparameterised draws: %.2f\n", ratio);
  RecordProperty("variance_ratio", std::to_string(ratio));
}

/// Returns rows of two factors in noise. (n, 6)
std::vector<double> linear_gaussian_rows(std::size_t n) {
  const double loadings[6][2] = {{2, 0}, {1, 1}, {0, 1.5}, {-1, 1}, {1.5, -0.5}, {0.5, 0.5}};
  const RandomFunction random{3, Purpose::test, 1};
  std::vector<double> rows;
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t i = 0; i < 6; ++i)
      rows.push_back(0.5 * double(i) + loadings[i][0] * random.normal(8 * row) +
                     loadings[i][1] * random.normal(8 * row + 1) +
                     0.6 * random.normal(8 * row + 2 + i));
  return rows;
}

/// Linear maps and one variance are probabilistic PCA, whose posterior is normal with one
/// covariance (Lucas et al., "Don't blame the ELBO!", 2019): the bound equals its likelihood.
TEST(VariationalAutoencoder, OfLinearMapsIsProbabilisticPrincipalComponents) {
  constexpr std::size_t n = 400, steps = 1200;
  const std::vector<double> rows = linear_gaussian_rows(n);
  VaeSpec spec;
  spec.observed = "real", spec.tokens = 6;
  spec.latent.size = 2;
  spec.stack.blocks = 0, spec.stack.positions = "none", spec.stack.block.width = 2;
  VariationalAutoencoder model(spec);
  initialize(model, 1);
  Observed x{zeros({n, 6, 1}), {}};
  std::ranges::copy(rows, x.values.begin());
  fit(model, x, steps, 0.03);
  const LatentBounds bounds = bounds_of(model, x, random_tensor({32, n, 2}, 2));
  double bound = 0;
  for (std::size_t b = 0; b < n; ++b)
    bound += (bounds.reconstruction[b] - bounds.divergence[b]) / double(n);
  const WeightedRows table{6, rows};
  const double likelihood =
      fit_mixture(table, initial_mixture(table, 1), {.factors = 2}).log_likelihood.back();
  EXPECT_LT(bound, likelihood + 0.02) << "no bound is above the maximum of the likelihood";
  EXPECT_NEAR(bound, likelihood, 0.01 * std::abs(likelihood));
}

TEST(VariationalAutoencoder, RefusesOtherShapes) {
  VaeSpec spec = tiny("binary");
  VariationalAutoencoder model(spec);
  Tape tape;
  EXPECT_THROW(model.loss(tape, {random_tensor({2, 3, 2}, 1), {}}, zeros({2, 2, 3})),
               std::invalid_argument);
  VariationalAutoencoder texts(tiny("symbols"));
  EXPECT_THROW(texts.loss(tape, {{}, {{1, 4}, {0, 1, 5, 0}}}, zeros({2, 1, 3})),
               std::invalid_argument);
  spec.latent.gradient = "score", spec.latent.draws = 1;
  EXPECT_THROW(VariationalAutoencoder{spec}, std::invalid_argument);
  spec = tiny("binary"), spec.latent.size = 0;
  EXPECT_THROW(VariationalAutoencoder{spec}, std::invalid_argument);
  spec = tiny("binary"), spec.observed = "colours";
  EXPECT_THROW(VariationalAutoencoder{spec}, std::invalid_argument);
}

}  // namespace variational_autoencoder_test
}  // namespace bochner::inline BOCHNER_PRECISION
