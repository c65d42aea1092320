#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/autodiff/ops/sampled_softmax.hpp>
#include <cmath>

#include "autodiff/op_check.hpp"
#include "autodiff/op_table.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_noise_test {

using namespace op_check;

/// Returns the probability of class j of V, proportional to j + 1.
double rate(std::size_t j, std::size_t V) { return 2. * double(j + 1) / double(V * (V + 1)); }

std::int32_t drawn_class(double u, std::size_t V) {
  std::size_t j = 0;
  for (double sum = rate(0, V); sum < u && j + 1 < V; sum += rate(j, V)) ++j;
  return std::int32_t(j);
}

NoiseClasses drawn(std::size_t V, std::size_t k, std::uint64_t stream = 3) {
  const RandomFunction random{7, Purpose::test, stream};
  std::vector<std::size_t> counts(V);
  for (std::size_t i = 0; i < k; ++i) ++counts[std::size_t(drawn_class(random.uniform(i), V))];
  NoiseClasses noise;
  for (std::size_t j = 0; j < V; ++j) {
    noise.log_rates.push_back(std::log(double(k) * rate(j, V)));
    if (counts[j] == 0) continue;
    noise.classes.push_back(std::int32_t(j));
    noise.counts.push_back(counts[j]);
  }
  return noise;
}

/// Every fifth label is ignored.
Indices labels_of(const Shape& x, std::size_t V) {
  Indices labels{without_last(x), {}};
  for (std::size_t i = 0; i < element_count(labels.shape); ++i)
    labels.values.push_back(i % 5 == 4 ? -1 : std::int32_t((i * i + 3) % V));
  return labels;
}

using Inputs = std::vector<Var>;

Var sampled(const Inputs& x, std::size_t draws) {
  const std::size_t V = x[1].dim(1);
  return sampled_softmax(x[0], x[1], x[2], labels_of(x[0].shape(), V), drawn(V, draws));
}

Var contrasted(const Inputs& x, std::size_t draws) {
  const std::size_t V = x[1].dim(1);
  return noise_contrastive(x[0], x[1], x[2], x[3], labels_of(x[0].shape(), V), drawn(V, draws));
}

std::vector<OpRow> rows() {
  const std::vector<Shapes> shapes{{{4, 3}, {3, 9}, {9}}, {{2, 5, 3}, {3, 20}, {20}},
                                   {{3}, {3, 9}, {9}},    {{0, 3}, {3, 9}, {9}},
                                   {{6, 1}, {1, 1}, {1}}, {{601, 33}, {33, 300}, {300}}};
  std::vector<Shapes> with_shift = shapes;
  for (Shapes& one : with_shift) one.push_back({1});
  std::vector<OpRow> all;
  for (const std::size_t draws : {1, 12}) {
    const std::string variant = draws == 1 ? "OneDraw" : "";
    all.push_back({"sampled_softmax", variant,
                   [=](Tape&, const Inputs& x) { return sampled(x, draws); }, shapes});
    all.push_back({"noise_contrastive", variant,
                   [=](Tape&, const Inputs& x) { return contrasted(x, draws); }, with_shift});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Noise, OpTest, ::testing::ValuesIn(rows()), test_name);

struct Example {
  Tensor x = random_tensor({30, 5}, 1), w = random_tensor({5, 40}, 2),
         bias = random_tensor({40}, 3), log_z = filled({1}, real(0.7));
  Indices labels = labels_of({30, 5}, 40);

  double logit(std::size_t i, std::size_t j) const {
    double sum = bias.data()[j];
    for (std::size_t d = 0; d < 5; ++d)
      sum += double(x.data()[i * 5 + d]) * double(w.data()[d * 40 + j]);
    return sum;
  }
  /// Returns the mean of row(i, label) over labels that are not ignored.
  double mean(const std::function<double(std::size_t, std::size_t)>& row) const {
    double sum = 0, counted = 0;
    for (std::size_t i = 0; i < 30; ++i)
      if (labels.values[i] != -1) sum += row(i, std::size_t(labels.values[i])), ++counted;
    return sum / counted;
  }
};

TEST(SampledSoftmax, AgreesWithItsFormulaAndRemovesAccidentalHits) {
  const Example all;
  const NoiseClasses noise = drawn(40, 200);
  std::size_t hits = 0;
  const double wanted = all.mean([&](std::size_t i, std::size_t label) {
    const double target = std::exp(all.logit(i, label));
    double sum = target;
    for (std::size_t u = 0; u < noise.classes.size(); ++u) {
      const auto j = std::size_t(noise.classes[u]);
      hits += j == label;
      if (j != label)
        sum += double(noise.counts[u]) * std::exp(all.logit(i, j) - noise.log_rates[j]);
    }
    return std::log(sum / target);
  });
  EXPECT_GT(hits, 3u);
  EXPECT_NEAR(sampled_softmax(all.x, all.w, all.bias, all.labels, noise).value().data()[0], wanted,
              20 * tolerance);
}

TEST(SampledSoftmax, IsCertainWhereAllNoiseIsTheLabel) {
  const NoiseClasses noise{{2}, {5}, std::vector<double>(9, 0.1)};
  const auto results = value_and_gradients(
      [&](Tape&, const Inputs& x) {
        return sampled_softmax(x[0], x[1], x[2], {{2}, {2, -1}}, noise);
      },
      {random_tensor({2, 3}, 1), random_tensor({3, 9}, 2), random_tensor({9}, 3)});
  EXPECT_EQ(results[0], zeros({}));
  EXPECT_EQ(results[2], zeros({3, 9}));
}

TEST(NoiseContrastive, AgreesWithItsFormula) {
  const Example all;
  const NoiseClasses noise = drawn(40, 200);
  const double wanted = all.mean([&](std::size_t i, std::size_t label) {
    const auto log_odds = [&](std::size_t j) { return all.logit(i, j) - 0.7 - noise.log_rates[j]; };
    double sum = std::log1p(std::exp(-log_odds(label)));
    for (std::size_t u = 0; u < noise.classes.size(); ++u)
      sum +=
          double(noise.counts[u]) * std::log1p(std::exp(log_odds(std::size_t(noise.classes[u]))));
    return sum;
  });
  EXPECT_NEAR(
      noise_contrastive(all.x, all.w, all.bias, all.log_z, all.labels, noise).value().data()[0],
      wanted, 20 * tolerance * wanted);
}

/// Returns the gradients of x, w and bias of one row, concatenated.
std::vector<double> gradients_of(const Op& loss, const std::vector<Tensor>& inputs) {
  std::vector<double> all;
  Tape tape;
  std::vector<Var> leaves;
  for (const Tensor& input : inputs) leaves.push_back(tape.input(input));
  tape.backward(loss(tape, leaves));
  for (const Var& leaf : leaves)
    for (const real value : gradient_of(leaf)) all.push_back(double(value));
  return all;
}

/// With so many draws both losses equal the softmax up to sampling noise: 5 sigma.
TEST(NoiseLosses, HaveTheGradientOfTheSoftmaxInTheLimit) {
  const std::size_t V = 12, D = 4, repeats = 60;
  const std::vector<Tensor> inputs{random_tensor({1, D}, 1), random_tensor({D, V}, 2),
                                   random_tensor({V}, 3)};
  const Indices labels{{1}, {7}};
  const auto logits = [](const Inputs& x) { return affine(x[0], x[1], x[2]); };
  const std::vector<double> exact = gradients_of(
      [&](Tape&, const Inputs& x) { return cross_entropy(logits(x), labels); }, inputs);
  double z = 0;
  for (const real logit : affine(inputs[0], inputs[1], inputs[2]).value())
    z += std::exp(double(logit));
  const Tensor log_z = filled({1}, real(std::log(z)));
  for (const bool contrast : {false, true}) {
    std::vector<double> sums(exact.size()), squares(exact.size());
    for (std::size_t r = 0; r < repeats; ++r) {
      const NoiseClasses noise = drawn(V, contrast ? 300000 : 20000, 100 + r);
      const std::vector<double> found = gradients_of(
          [&](Tape&, const Inputs& x) {
            return contrast ? noise_contrastive(x[0], x[1], x[2], log_z, labels, noise)
                            : sampled_softmax(x[0], x[1], x[2], labels, noise);
          },
          inputs);
      for (std::size_t e = 0; e < exact.size(); ++e)
        sums[e] += found[e], squares[e] += found[e] * found[e];
    }
    for (std::size_t e = 0; e < exact.size(); ++e) {
      const double mean = sums[e] / double(repeats),
                   variance = std::max(0., squares[e] / double(repeats) - mean * mean);
      EXPECT_NEAR(mean, exact[e], 5 * std::sqrt(variance / double(repeats)) + 1e-6)
          << contrast << " " << e;
    }
  }
}

/// The estimate of the softmax's denominator is unbiased for any number of draws.
TEST(SampledSoftmax, HasAnUnbiasedDenominator) {
  const std::size_t V = 12, repeats = 20000;
  const Tensor x = random_tensor({1, 4}, 1), w = random_tensor({4, V}, 2),
               bias = random_tensor({V}, 3);
  const Indices labels{{1}, {7}};
  const double exact =
      std::exp(double(cross_entropy(affine(x, w, bias), labels).value().data()[0]));
  double sum = 0, squares = 0;
  for (std::size_t r = 0; r < repeats; ++r) {
    const double z = std::exp(
        double(sampled_softmax(x, w, bias, labels, drawn(V, 3, 100 + r)).value().data()[0]));
    sum += z, squares += z * z;
  }
  const double n = double(repeats), mean = sum / n;
  EXPECT_NEAR(mean, exact, 5 * std::sqrt((squares / n - mean * mean) / n));
}

/// Classes with fixed scores, one with half of the probability: the loss is minimal at the shift
/// that is the logarithm of the sum of their exponentials.
TEST(NoiseContrastive, RecoversTheNormaliser) {
  const std::size_t V = 20, n = 40000;
  Tensor scores = uninitialized({1, V});
  double z = 0;
  for (std::size_t j = 0; j < V; ++j) {
    scores.data()[j] = j == 4 ? real(4.2) : real(std::sin(double(3 * j)) + 1);
    z += std::exp(double(scores.data()[j]));
  }
  EXPECT_NEAR(std::exp(4.2) / z, 0.5, 0.1);
  const RandomFunction random{7, Purpose::test, 11};
  Indices labels{{n}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t j = 0;
    for (double left = random.uniform(i) * z;
         j + 1 < V && left > std::exp(double(scores.data()[j])); ++j)
      left -= std::exp(double(scores.data()[j]));
    labels.values.push_back(std::int32_t(j));
  }
  const NoiseClasses noise = drawn(V, 40000);
  double low = 0, high = 10;
  while (high - low > 1e-4) {
    const double middle = (low + high) / 2;
    Tape tape;
    const Var log_z = tape.input(filled({1}, real(middle)));
    tape.backward(noise_contrastive(filled({n, 1}, 1), scores, zeros({V}), log_z, labels, noise));
    (gradient_of(log_z).data()[0] < 0 ? low : high) = middle;
  }
  EXPECT_NEAR(low, std::log(z), 0.01 * std::log(z));
}

TEST(NoiseLosses, LeaveClassesAloneThatTheyDoNotSee) {
  const NoiseClasses noise{{1, 6}, {2, 1}, std::vector<double>(9, 0.1)};
  const std::vector<Tensor> inputs{random_tensor({2, 3}, 1), random_tensor({3, 9}, 2),
                                   random_tensor({9}, 3)};
  const auto results = value_and_gradients(
      [&](Tape&, const Inputs& x) {
        return sampled_softmax(x[0], x[1], x[2], {{2}, {4, 6}}, noise);
      },
      inputs);
  for (std::size_t j = 0; j < 9; ++j)
    EXPECT_EQ(results[3].data()[j] != 0, j == 1 || j == 4 || j == 6) << j;
}

TEST(NoiseLosses, SayWhatDoesNotFit) {
  const NoiseClasses noise{{1, 6}, {2, 1}, std::vector<double>(9, 0.1)};
  const auto error = [&](const Indices& labels, const NoiseClasses& drawn_noise) {
    return error_of([&] {
      sampled_softmax(zeros({2, 3}), zeros({3, 9}), zeros({9}), labels, drawn_noise);
    });
  };
  EXPECT_EQ(error({{2}, {1, 9}}, noise), "[sampled_softmax] label 9 is not in [0, 9)");
  EXPECT_EQ(error({{3}, {1, 2, 3}}, noise),
            "[sampled_softmax] labels must be (..) for x (.., D): x (2, 3), labels (3)");
  EXPECT_EQ(error({{2}, {1, 2}}, {{6, 1}, {2, 1}, noise.log_rates}),
            "[sampled_softmax] noise classes must ascend: 1 follows 6");
  EXPECT_EQ(error({{2}, {1, 2}}, {{9}, {2}, noise.log_rates}),
            "[sampled_softmax] noise 9 is not in [0, 9)");
  EXPECT_EQ(error({{2}, {1, 2}}, {{}, {}, noise.log_rates}),
            "[sampled_softmax] noise must have one count per class, 0, and a rate for "
            "each of w (3, 9)");
  NoiseClasses never = noise;
  never.log_rates[2] = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(error({{2}, {1, 2}}, never),
            "[sampled_softmax] label 2 must have a finite log rate in the noise");
  EXPECT_EQ(error_of([&] {
              noise_contrastive(zeros({2, 3}), zeros({3, 9}), zeros({9}), zeros({2}), {{2}, {1, 2}},
                                noise);
            }),
            "[noise_contrastive] log_z must be (1), not (2)");
  EXPECT_EQ(error_of([&] {
              sampled_softmax(zeros({2, 4}), zeros({3, 9}), zeros({9}), {{2}, {1, 2}}, noise);
            }),
            "[sampled_softmax] w must be (D, V) and bias (V) for x (.., D): x (2, 4), w (3, 9), "
            "bias (9)");
}

}  // namespace ops_noise_test
}  // namespace bochner::inline BOCHNER_PRECISION
