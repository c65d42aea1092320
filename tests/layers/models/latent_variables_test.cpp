#include <bochner/autodiff/compute/softmax.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/probability/distributions.hpp>
#include <cmath>
#include <set>

#include "layers/models/vae_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace latent_variables_test {

using namespace vae_check;

/// Returns a spec of two variables of three categories, and d normal numbers.
VaeSpec discrete(const std::string& gradient, std::size_t d,
                 const std::string& observed = "binary") {
  VaeSpec spec = tiny(observed);
  spec.latent.size = d;
  spec.latent.discrete = {.categories = 3, .variables = 2, .gradient = gradient};
  return spec;
}

TEST(LatentVariables, IsDifferentiableWithDiscreteVariablesAndAVarianceOfZ) {
  for (const char* gradient : {"relaxed", "exact"})
    for (const std::size_t d : {0, 2}) {
      SCOPED_TRACE(gradient);
      VaeSpec spec = discrete(gradient, d, "real");
      spec.latent.variance = "of_z";
      VariationalAutoencoder model(spec);
      randomize(model, 0.4);
      const Observed x = examples(spec);
      check_layer(model, random_tensor({1}, 1), [&](Tape& tape, const Var&) {
        return model.loss(tape, x, random_tensor({2, 3, d + 6}, 2));
      });
    }
}

/// Returns ln p(x | c) of each example for each value of the discrete variables. -> (C, B)
Tensor likelihoods(VariationalAutoencoder& model, const Observed& x, const Tensor& values) {
  Tensor z = zeros({values.shape()[0], x.size(), values.shape()[1]});
  for (std::size_t i = 0; i < z.size(); ++i)
    z.data()[i] = values(i / (x.size() * z.shape()[2]), i % z.shape()[2]);
  Tape tape({.recording = false});
  return model.log_likelihood(tape, x, Var(z)).value();
}

/// The sum over all values is the ELBO, and enough draws estimate ln p(x).
TEST(LatentVariables, DiscreteBoundsAreThoseOfAllCategories) {
  const VaeSpec spec = discrete("exact", 0);
  VariationalAutoencoder model(spec);
  randomize(model, 0.4);
  const Observed x = examples(spec);
  const Tensor values = all_categories(2, 3), each = likelihoods(model, x, values);
  Tape tape({.recording = false});
  const Tensor log_q = log_probabilities(model.encode(tape, x).discrete, values).value();
  double elbo = 0;
  for (std::size_t i = 0; i < each.size(); ++i)
    elbo += std::exp(double(log_q.data()[i])) *
            (double(each.data()[i]) - double(log_q.data()[i]) - std::log(9.0)) / 3;
  const Tensor noise = random_tensor({1, 3, 6}, 4);
  EXPECT_NEAR(-double(model.loss(tape, x, noise).value()()), elbo, is_double ? 1e-10 : 1e-4);
  const LatentBounds bounds = bounds_of(model, x, random_tensor({4000, 3, 6}, 5));
  double drawn = 0;
  for (std::size_t b = 0; b < 3; ++b) {
    drawn += (bounds.reconstruction[b] - bounds.divergence[b]) / 3;
    std::vector<double> logs;
    for (std::size_t i = 0; i < 9; ++i) logs.push_back(double(each(i, b)) - std::log(9.0));
    EXPECT_NEAR(bounds.weighted[b], log_sum_exp<double>(logs), 0.05);
  }
  EXPECT_NEAR(drawn, elbo, 0.05);
}

/// Returns the mean gradient of the encoder's last bias over draws.
std::vector<double> mean_gradient(const VaeSpec& spec, std::size_t repeats) {
  VariationalAutoencoder model(spec);
  randomize(model, 0.6);
  const Observed x = examples(spec);
  Parameter* bias = nullptr;
  for (const NamedParameter& named : parameters_of(model))
    if (named.name == "to_latent.bias") bias = named.parameter;
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    Tape tape;
    tape.backward(
        model.loss(tape, x, random_tensor({spec.latent.draws, 3, spec.latent.width()}, repeat)));
  }
  std::vector<double> mean(bias->gradient().begin(), bias->gradient().end());
  for (double& g : mean) g /= double(repeats);
  return mean;
}

/// The bias of relaxed draws falls with their temperature; the oracle is the sum over all values.
TEST(LatentVariables, RelaxedGradientsTendToTheExactOne) {
  VaeSpec spec = discrete("relaxed", 0);
  const std::vector<double> exact = mean_gradient(discrete("exact", 0), 1);
  spec.latent.draws = 64;
  double apart[2], size = 0;
  for (const int cold : {0, 1}) {
    spec.latent.discrete.temperature = cold ? 0.1 : 2;
    const std::vector<double> mean = mean_gradient(spec, 100);
    apart[cold] = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      apart[cold] = std::max(apart[cold], std::abs(mean[i] - exact[i]));
      size = std::max(size, std::abs(exact[i]));
    }
  }
  EXPECT_GT(apart[0], 2 * apart[1]);
  EXPECT_LT(apart[1], 0.15 * size);
}

TEST(LatentVariables, AnnealsItsTemperature) {
  VaeSpec spec = discrete("relaxed", 0);
  spec.latent.discrete.temperature = 2, spec.latent.discrete.final_temperature = 0.5;
  const auto temperature = [&](std::size_t anneal, bool training, std::uint64_t step) {
    spec.latent.discrete.anneal = anneal;
    Tape tape;
    tape.training = training, tape.step = step;
    return VariationalAutoencoder(spec).temperature(tape);
  };
  EXPECT_DOUBLE_EQ(temperature(0, true, 9), 2);
  EXPECT_DOUBLE_EQ(temperature(8, true, 0), 2);
  EXPECT_DOUBLE_EQ(temperature(8, true, 4), 1);
  EXPECT_DOUBLE_EQ(temperature(8, true, 90), 0.5);
  EXPECT_DOUBLE_EQ(temperature(8, false, 0), 0.5);
}

/// Three patterns of eight pixels, of which one in twenty is wrong.
TEST(LatentVariables, FindsThreeClustersByThreeCategories) {
  constexpr std::size_t B = 90;
  const RandomFunction random{3, Purpose::test, 2};
  Observed x{zeros({B, 4, 2}), {}};
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const std::size_t cluster = i / 8 % 3, pixel = i % 8;
    const bool on = cluster == 0 ? pixel < 4 : cluster == 1 ? pixel % 2 == 0 : pixel > 4;
    x.values.data()[i] = on != (random.uniform(i) < 0.05) ? 1 : 0;
  }
  for (const char* gradient : {"relaxed", "straight_through", "exact"}) {
    SCOPED_TRACE(gradient);
    VaeSpec spec = discrete(gradient, 0);
    spec.latent.discrete.variables = 1, spec.latent.discrete.anneal = 200;
    spec.latent.warmup = 100, spec.stack.blocks = 0;
    VariationalAutoencoder model(spec);
    initialize(model, 1);
    fit(model, x, 300, 0.03);
    Tape tape({.recording = false});
    const Tensor found = most_probable(model.encode(tape, x)).value();
    std::vector<double> counts(9);
    for (std::size_t i = 0; i < found.size(); ++i)
      counts[i / 3 % 3 * 3 + i % 3] += double(found.data()[i]);
    std::set<std::size_t> categories;
    for (std::size_t cluster = 0; cluster < 3; ++cluster) {
      const auto row = counts.begin() + std::ptrdiff_t(3 * cluster);
      const auto most = std::max_element(row, row + 3);
      EXPECT_GE(*most, 0.9 * B / 3);
      categories.insert(std::size_t(most - row));
    }
    EXPECT_EQ(categories.size(), 3u);
  }
}

VaeSpec with_variance_of_z() {
  VaeSpec spec = tiny("real");
  spec.latent.variance = "of_z", spec.latent.size = 1;
  spec.stack.blocks = 0;
  return spec;
}

TEST(LatentVariables, DensitiesWithAVarianceOfZAreThoseOfNormals) {
  const VaeSpec spec = with_variance_of_z();
  VariationalAutoencoder model(spec);
  randomize(model, 0.5);
  const Observed x = examples(spec);
  const Tensor z = random_tensor({1, 3, 1}, 2);
  Tape tape({.recording = false});
  const Tensor log_p = model.log_likelihood(tape, x, Var(z)).value();
  const Tensor decoded = model.decode(tape, reshape(Var(z), {3, 1})).value();
  EXPECT_EQ(to_string(decoded.shape()), "(3, 4, 4)");
  for (std::size_t b = 0; b < 3; ++b) {
    double expected = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const NormalDistribution normal{double(decoded(b, i / 2, i % 2)),
                                      std::exp(double(decoded(b, i / 2, 2 + i % 2)) / 2)};
      expected += normal.log_density(double(x.values(b, i / 2, i % 2)));
    }
    EXPECT_NEAR(double(log_p(0, b)), expected, is_double ? 1e-10 : 1e-4);
  }
}

/// The variance is that of the data at first, and never below a hundredth of its deviation.
TEST(LatentVariables, BoundsAVarianceOfZ) {
  VariationalAutoencoder model(with_variance_of_z());
  initialize(model, 1);
  Tape tape({.recording = false});
  const auto log_variance = [&] {
    return double(model.decode(tape, Var(random_tensor({1, 1}, 2))).value()(0, 3, 2));
  };
  EXPECT_NEAR(log_variance(), 0, 1e-3);
  for (const NamedParameter& named : parameters_of(model))
    if (named.name == "log_variance.bias") named.parameter->value().fill(-100);
  EXPECT_NEAR(log_variance(), 2 * std::log(0.01), 1e-5);
}

/// Two groups, whose noise differs, and doubles in the second half of the tokens.
TEST(LatentVariables, LearnsNoiseThatDependsOnGroupAndPlace) {
  constexpr std::size_t B = 200;
  const RandomFunction random{3, Purpose::test, 4};
  const auto deviation = [](std::size_t group, std::size_t token) {
    return (group == 0 ? 0.1 : 0.4) * (token < 2 ? 1 : 2);
  };
  Observed x{zeros({B, 4, 2}), {}};
  for (std::size_t i = 0; i < x.values.size(); ++i)
    x.values.data()[i] =
        real((i / 8 % 2 == 0 ? -2 : 2) + deviation(i / 8 % 2, i / 2 % 4) * random.normal(i));
  VariationalAutoencoder model(with_variance_of_z());
  initialize(model, 1);
  fit(model, x, 800, 0.02);
  Tape tape({.recording = false});
  const Tensor decoded = model.decode(tape, most_probable(model.encode(tape, x))).value();
  for (std::size_t group = 0; group < 2; ++group)
    for (std::size_t token = 0; token < 4; ++token) {
      const double learned = std::exp(double(decoded(group, token, 2)) / 2);
      EXPECT_NEAR(learned / deviation(group, token), 1, 0.25) << group << ", " << token;
    }
}

TEST(LatentVariables, RefusesSumsOverTooManyCategories) {
  VaeSpec spec = discrete("exact", 0);
  spec.latent.discrete.categories = 17;
  EXPECT_THROW(VariationalAutoencoder{spec}, std::invalid_argument);
  spec.latent.discrete.gradient = "relaxed";
  EXPECT_EQ(VariationalAutoencoder(spec).spec().latent.width(), 34u);
  spec.latent.discrete.categories = 1;
  EXPECT_THROW(VariationalAutoencoder{spec}, std::invalid_argument);
}

}  // namespace latent_variables_test
}  // namespace bochner::inline BOCHNER_PRECISION
