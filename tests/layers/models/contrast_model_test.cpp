#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/layers/models/contrast_model.hpp>
#include <cmath>
#include <set>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace contrast_model_test {

using namespace layer_check;

constexpr double tolerance = sizeof(real) == 8 ? 1e-11 : 1e-5;

double scalar(const Var& x) { return double(x.value().data()[0]); }

Tensor units(const Shape& shape, std::uint64_t stream) {
  return unit_rows(Var(random_tensor(shape, stream))).value();
}

double dot(const Tensor& a, std::size_t i, const Tensor& b, std::size_t j) {
  double sum = 0;
  for (std::size_t e = 0; e < a.shape()[1]; ++e) sum += double(a(i, e)) * double(b(j, e));
  return sum;
}

TEST(UnitRows, HaveLengthOne) {
  const Tensor x = units({5, 7}, 1);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(dot(x, i, x, i), 1, tolerance);
}

TEST(UnitRows, HaveLengthOneWhereSquaresOverflow) {
  const real large = std::sqrt(std::numeric_limits<real>::max()) * 1000;
  Tensor x = random_tensor({3, 5}, 1);
  const Tensor small = unit_rows(Var(x)).value();
  for (std::size_t e = 0; e < 5; ++e) x(1, e) *= large;
  const Tensor rows = unit_rows(Var(x)).value();
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t e = 0; e < 5; ++e) EXPECT_NEAR(rows(i, e), small(i, e), tolerance);
}

/// The formula of Chen et al., term by term.
TEST(InfoNce, IsItsFormula) {
  const std::size_t B = 4;
  const double temperature = 0.3;
  const Tensor z = units({2 * B, 6}, 2);
  double total = 0;
  for (std::size_t i = 0; i < 2 * B; ++i) {
    const std::size_t partner = (i + B) % (2 * B);
    double others = 0;
    for (std::size_t k = 0; k < 2 * B; ++k)
      if (k != i) others += std::exp(dot(z, i, z, k) / temperature);
    total -= dot(z, i, z, partner) / temperature - std::log(others);
  }
  EXPECT_NEAR(scalar(info_nce(Var(z), temperature)), total / double(2 * B), 20 * tolerance);
}

/// Equal views give ln of the number of others: InfoNCE bounds information by ln N.
TEST(InfoNce, KnowsNothingOfEqualViews) {
  Tensor z = zeros({8, 3});
  for (std::size_t i = 0; i < 8; ++i) z(i, 1) = 1;
  EXPECT_NEAR(scalar(info_nce(Var(z), 0.1)), std::log(7.0), tolerance);
  EXPECT_THROW(info_nce(Var(zeros({3, 2})), 0.1), std::invalid_argument);
  EXPECT_EQ(op_check::error_of([&] { info_nce(Var(z), 0); }),
            "[contrast] temperature = 0 must be finite and above 0");
}

TEST(InfoNce, IsTheSameForBothViews) {
  const Tensor z = units({6, 4}, 3);
  Tensor turned = z;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t e = 0; e < 4; ++e) turned(i, e) = z((i + 3) % 6, e);
  EXPECT_NEAR(scalar(info_nce(Var(turned), 0.2)), scalar(info_nce(Var(z), 0.2)), tolerance);
}

TEST(PrototypeNce, IsItsFormula) {
  const std::size_t n = 5, K = 3;
  const Tensor v = units({n, 4}, 4), c = units({K, 4}, 5);
  Tensor phi = uninitialized({K});
  for (std::size_t k = 0; k < K; ++k) phi(k) = real(0.1 + 0.2 * double(k));
  const Indices labels{{n}, {2, 0, 1, 1, 2}};
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double all = 0;
    for (std::size_t k = 0; k < K; ++k) all += std::exp(dot(v, i, c, k) / double(phi(k)));
    const auto own = std::size_t(labels.values[i]);
    total -= dot(v, i, c, own) / double(phi(own)) - std::log(all);
  }
  EXPECT_NEAR(scalar(prototype_nce(Var(v), c, phi, labels)), total / double(n), 50 * tolerance);
  EXPECT_THROW(prototype_nce(Var(v), c, zeros({2}), labels), std::invalid_argument);
}

TEST(ContrastLosses, AreDifferentiable) {
  if (sizeof(real) < 8) return;
  const Tensor c = units({3, 4}, 5);
  const Indices labels{{6}, {2, 0, 1, 1, 2, 0}};
  const auto report = check_gradient(
      [&](Tape&, const std::vector<Var>& x) {
        const Var rows = unit_rows(x[0]);
        return info_nce(rows, 0.5) + prototype_nce(rows, c, filled({3}, real(0.4)), labels);
      },
      {random_tensor({6, 4}, 6)});
  EXPECT_TRUE(report.passed) << report.summary();
}

ContrastModelSpec small_spec() {
  ContrastModelSpec spec;
  TrunkSpec& trunk = spec.encoder.trunk;
  trunk.blocks = 1;
  trunk.block.width = 6;
  trunk.block.expansion = 1;
  trunk.block.mixer.kind = "softmax";
  trunk.block.mixer.heads = 2;
  trunk.length = 3;
  spec.encoder.values = 5;
  spec.contrast.kind = "prototypes";
  spec.contrast.width = 4;
  spec.contrast.clusters = {2, 3};
  spec.contrast.temperature = 0.5;
  spec.examples = 8;
  return spec;
}

std::vector<double> rows_of(const Tensor& x) { return {x.begin(), x.end()}; }

TEST(ContrastModel, IsDifferentiable) {
  ContrastModel model(small_spec());
  randomize(model, 0.4);
  model.prototypes()->cluster(rows_of(units({8, 4}, 7)), 1, 0);
  const EncoderInput views{random_tensor({6, 3, 5}, 8)};
  check_layer(model, random_tensor({1}, 3), [&](Tape& tape, const Var& factor) {
    return model.loss(tape, views, {4, 0, 7}) * factor;
  });
}

TEST(ContrastModel, HasPrototypesOnceTheyAreFound) {
  ContrastModel model(small_spec());
  randomize(model, 0.4);
  const EncoderInput views{random_tensor({6, 3, 5}, 8)};
  const auto loss = [&] {
    Tape tape;
    return scalar(model.loss(tape, views, {4, 0, 7}));
  };
  const double alone = loss();
  EXPECT_EQ(model.prototypes()->epochs(), 0u);
  model.prototypes()->cluster(rows_of(units({8, 4}, 7)), 1, 4);
  EXPECT_EQ(model.prototypes()->epochs(), 5u);
  EXPECT_GT(loss(), alone);
  Tape tape;
  const Var projected = model.project(tape, model.embed(tape, views));
  const std::vector<std::size_t> both{4, 0, 7, 4, 0, 7};
  EXPECT_NEAR(loss(), alone + scalar(model.prototypes()->loss(projected, both)), 1e-5);
}

/// A model that copies the buffers has the same loss.
TEST(ContrastModel, KeepsPrototypesInBuffers) {
  ContrastModel model(small_spec()), other(small_spec());
  randomize(model, 0.4);
  randomize(other, 0.4);
  model.prototypes()->cluster(rows_of(units({8, 4}, 7)), 1, 2);
  const auto from = buffers_of(model), to = buffers_of(other);
  ASSERT_EQ(from.size(), 7u);
  for (std::size_t i = 0; i < from.size(); ++i) *to[i].tensor = *from[i].tensor;
  const EncoderInput views{random_tensor({4, 3, 5}, 8)};
  Tape tape;
  EXPECT_EQ(scalar(model.loss(tape, views, {1, 6})), scalar(other.loss(tape, views, {1, 6})));
  EXPECT_EQ(other.prototypes()->epochs(), 3u);
}

TEST(ContrastModel, NeedsAnExampleForEachCluster) {
  ContrastModelSpec spec = small_spec();
  spec.contrast.clusters = {9};
  EXPECT_THROW(ContrastModel{spec}, std::invalid_argument);
}

/// Mean over clusterings, each with its own centres.
TEST(ContrastModel, PrototypesCountOnceHoweverManyClusteringsThereAre) {
  ContrastModelSpec spec = small_spec();
  const Tensor points = units({8, 4}, 7), views = units({4, 4}, 9);
  const auto loss_of = [&](std::vector<double> clusters, std::uint64_t epoch) {
    spec.contrast.clusters = clusters;
    Prototypes prototypes(spec.contrast, 8);
    prototypes.cluster(rows_of(points), 1, epoch);
    return scalar(prototypes.loss(Var(views), {1, 6, 1, 6}));
  };
  EXPECT_NEAR(loss_of({8, 8}, 0), loss_of({8}, 0), 50 * tolerance);
}

/// k-means starts differ between epochs.
TEST(ContrastModel, PrototypesOfAnEpochBeginElsewhere) {
  ContrastModelSpec spec = small_spec();
  spec.contrast.clusters = {3}, spec.contrast.rounds = 0;
  std::set<double> first;
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    Prototypes prototypes(spec.contrast, 8);
    prototypes.cluster(rows_of(units({8, 4}, 7)), 1, epoch);
    first.insert(scalar(prototypes.loss(Var(units({2, 4}, 9)), {1, 6})));
  }
  EXPECT_GT(first.size(), 1u);
}

}  // namespace contrast_model_test
}  // namespace bochner::inline BOCHNER_PRECISION
