#include <bochner/autodiff/compute/gemm.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/weight_cache.hpp>
#include <xtensor-blas/xlinalg.hpp>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace ops_linalg_test {

using namespace op_check;

/// Computes one matrix product by loops; (rows of a, columns of a) etc. are as stored.
void naive_product(const real* a, const real* b, std::size_t M, std::size_t N, std::size_t K,
                   bool transpose_a, bool transpose_b, real* y) {
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < N; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < K; ++k) {
        sum += double(a[transpose_a ? k * M + i : i * K + k]) *
               double(b[transpose_b ? j * K + k : k * N + j]);
      }
      y[i * N + j] = real(sum);
    }
  }
}

struct Kind {
  const char* name;
  Var (*op)(const Var&, const Var&);
  bool transpose_a, transpose_b;
};
const Kind kinds[] = {{"matmul", matmul, false, false},
                      {"matmul_nt", matmul_nt, false, true},
                      {"matmul_tn", matmul_tn, true, false}};

Shape matrices(Shape batch, std::size_t rows, std::size_t columns, bool transposed) {
  batch.push_back(transposed ? columns : rows);
  batch.push_back(transposed ? rows : columns);
  return batch;
}

/// Returns the matrix of `batch` that entry (i, j) of a (4, 3) batch reads.
std::size_t entry_of(const Shape& batch, std::size_t i, std::size_t j) {
  const std::size_t columns = batch.empty() ? 1 : batch.back();
  const std::size_t rows = batch.size() < 2 ? 1 : batch[0];
  return (rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j);
}

struct Batches {
  Shape a, b;
};
const Batches batches[] = {{{}, {}},         {{4, 3}, {}},  {{4, 3}, {1, 1}}, {{}, {4, 3}},
                           {{4, 3}, {4, 3}}, {{4, 1}, {3}}, {{3}, {4, 3}},    {{1, 3}, {4, 1}}};

TEST(Matmul, AgreesWithLoopsForAnyBatch) {
  const std::size_t M = 5, N = 7, K = 6;
  for (const Kind& kind : kinds) {
    for (const Batches& batch : batches) {
      const Tensor a = random_tensor(matrices(batch.a, M, K, kind.transpose_a), 1);
      const Tensor b = random_tensor(matrices(batch.b, K, N, kind.transpose_b), 2);
      SCOPED_TRACE(kind.name + to_string(a.shape()) + to_string(b.shape()));
      Tensor expected =
          uninitialized(matrices(broadcast_shape("test", batch.a, batch.b), M, N, false));
      for (std::size_t e = 0; e < expected.size() / (M * N); ++e) {
        naive_product(a.data() + entry_of(batch.a, e / 3, e % 3) * M * K,
                      b.data() + entry_of(batch.b, e / 3, e % 3) * K * N, M, N, K, kind.transpose_a,
                      kind.transpose_b, expected.data() + e * M * N);
      }
      expect_near(kind.op(a, b).value(), expected);
      check_op([&](Tape&, const std::vector<Var>& x) { return kind.op(x[0], x[1]); }, {a, b});
    }
  }
}

/// Compares the gradients of broadcast factors with those of factors repeated in memory.
TEST(Matmul, SumsGradientsOverTheBroadcast) {
  const std::size_t B = 40, M = 24, N = 20, K = 28;
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const Tensor a = random_tensor(matrices({B}, M, K, kind.transpose_a), 1);
    const Tensor b = random_tensor(matrices({}, K, N, kind.transpose_b), 2);
    Tensor repeated = uninitialized(matrices({B}, K, N, kind.transpose_b));
    for (std::size_t e = 0; e < B; ++e)
      std::copy_n(b.data(), b.size(), repeated.data() + e * b.size());
    const Op op = [&](Tape&, const std::vector<Var>& x) { return kind.op(x[0], x[1]); };
    const auto shared = value_and_gradients(op, {a, b});
    const auto apart = value_and_gradients(op, {a, repeated});
    expect_near(shared[0], apart[0]);
    expect_near(shared[1], apart[1]);
    Tensor sum = zeros(b.shape());
    for (std::size_t i = 0; i < repeated.size(); ++i)
      sum.data()[i % b.size()] += apart[2].data()[i];
    expect_near(shared[2], sum, 10 * tolerance);
  }
}

/// Large enough for row tiles and several chunks of tokens per group; 3 tokens are left over.
TEST(Matmul, LargeProductsAgreeWithLoops) {
  const std::size_t rows = 5123, D = 40, E = 33;
  const Tensor x = random_tensor({rows, D}, 1), w = random_tensor({D, E}, 2);
  const Op op = [](Tape&, const std::vector<Var>& v) { return matmul(v[0], v[1]); };
  const auto results = value_and_gradients(op, {x, w});
  Tensor y = uninitialized({rows, E}), dx = uninitialized({rows, D}), dw = uninitialized({D, E});
  const Tensor g = random_tensor({rows, E}, 99);
  naive_product(x.data(), w.data(), rows, E, D, false, false, y.data());
  naive_product(g.data(), w.data(), rows, D, E, false, true, dx.data());
  naive_product(x.data(), g.data(), D, E, rows, true, false, dw.data());
  expect_near(results[0], y);
  expect_near(results[1], dx);
  expect_near(results[2], dw, 10 * tolerance);
  expect_equal_bits_for_threads(op, {x, w});
}

TEST(Matmul, TakesTheSameFactorTwice) {
  check_op([](Tape&, const std::vector<Var>& x) { return matmul_nt(x[0], x[0]); },
           {random_tensor({3, 5, 4}, 1)});
}

TEST(Matmul, TakesEmptyFactors) {
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    for (const auto& [M, N, K] :
         std::vector<std::array<std::size_t, 3>>{{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 1, 1}}) {
      for (const Shape& batch : {Shape{}, Shape{2}, Shape{0}}) {
        const Tensor a = random_tensor(matrices(batch, M, K, kind.transpose_a), 1);
        const Tensor b = random_tensor(matrices({}, K, N, kind.transpose_b), 2);
        const Op op = [&](Tape&, const std::vector<Var>& x) { return kind.op(x[0], x[1]); };
        check_op(op, {a, b});
        if (K == 0) {
          EXPECT_EQ(value_of(op, {a, b}), zeros(matrices(batch, M, N, false)));
        }
      }
    }
  }
}

TEST(Matmul, NamesBothShapesInErrors) {
  const auto error = [](const Shape& a, const Shape& b) {
    return error_of([&] { matmul(Var(zeros(a)), Var(zeros(b))); });
  };
  EXPECT_EQ(error({4, 3}, {2, 5}), "[matmul] inner sizes differ: a (4, 3), b (2, 5)");
  EXPECT_EQ(error({2, 4, 3}, {3, 3, 5}),
            "[matmul] leading axes do not broadcast: a (2, 4, 3), b (3, 3, 5)");
  EXPECT_EQ(error({3}, {3, 5}), "[matmul] both factors need two axes or more: a (3), b (3, 5)");
}

Var apply_affine(Tape&, const std::vector<Var>& x) { return affine(x[0], x[1], x[2]); }

TEST(Affine, IsAProductPlusABias) {
  const Tensor x = random_tensor({3, 300, 12}, 1), w = random_tensor({12, 9}, 2);
  const Tensor bias = random_tensor({9}, 3);
  const auto fused = value_and_gradients(apply_affine, {x, w, bias});
  const auto product = value_and_gradients(
      [](Tape&, const std::vector<Var>& v) { return matmul(v[0], v[1]); }, {x, w});
  expect_near(fused[0], Tensor(product[0] + bias));
  expect_near(fused[1], product[1]);
  expect_near(fused[2], product[2], 10 * tolerance);
  Tensor columns = zeros({9});
  const Tensor g = random_tensor({3, 300, 9}, 99);
  for (std::size_t i = 0; i < g.size(); ++i) columns.data()[i % 9] += g.data()[i];
  expect_near(fused[3], columns, 10 * tolerance);
}

TEST(Affine, OfAFewRowsIsThatOfEach) {
  const Tensor x = random_tensor({40, 70}, 1), w = random_tensor({70, 150}, 2);
  const Tensor bias = random_tensor({150}, 3), all = affine(x, w, bias).value();
  for (std::size_t i = 0; i < 40; ++i) {
    Tensor row = uninitialized({1, 70}), expected = uninitialized({1, 150});
    std::copy_n(x.data() + i * 70, 70, row.data());
    std::copy_n(all.data() + i * 150, 150, expected.data());
    expect_near(affine(row, w, bias).value(), expected);
  }
}

/// Returns y (rows, 96) of a pass without gradients that uses the cache `cache`.
Tensor affine_with(WeightCache* cache, Parameter& w, Parameter& bias, const Tensor& x) {
  Tape tape({.recording = false});
  tape.weight_cache = cache;
  return affine(tape.constant(x), tape(w), tape(bias)).value();
}

/// The previous pass packed the weights of registered parameters.
TEST(Affine, OfAFewRowsReadsWeightsThatArePacked) {
  Parameter w(random_tensor({80, 96}, 1)), bias(random_tensor({96}, 2));
  WeightCache cache;
  cache.add(std::vector<NamedParameter>{{"w", &w}, {"bias", &bias}});
  for (const std::size_t rows : {16, 17, 32, 40, 127}) {
    const Tensor x = random_tensor({rows, 80}, 3);
    const Tensor first = affine_with(&cache, w, bias, x);
    expect_near(first, affine_with(nullptr, w, bias, x));
    expect_equal_bits(affine_with(&cache, w, bias, x), first);
  }
  if (!has_own_products()) return;
  const Tensor x = random_tensor({32, 80}, 3), before = affine_with(&cache, w, bias, x);
  w.value().fill(0);
  expect_equal_bits(affine_with(&cache, w, bias, x), before);
}

/// A computed tensor in the next pass may be at the same address.
TEST(Affine, OfAFewRowsKeepsNoWeightsThatAreComputed) {
  Parameter bias(zeros({96}));
  WeightCache cache;
  const Tensor x = random_tensor({32, 80}, 3);
  for (const real factor : {1, 2, 3}) {
    Tape tape({.recording = false});
    tape.weight_cache = &cache;
    const Tensor w = filled({80, 96}, factor);
    const Tensor y = affine(tape.constant(x), tape.view(w), tape(bias)).value();
    expect_near(y, affine(x, w, zeros({96})).value());
  }
}

TEST(Affine, WithGeluEqualsTheTwoOps) {
  const std::vector<Tensor> inputs{random_tensor({3, 300, 60}, 1), random_tensor({60, 50}, 2),
                                   random_tensor({50}, 3)};
  const auto fused = value_and_gradients(
      [](Tape&, const std::vector<Var>& x) { return affine_gelu(x[0], x[1], x[2]); }, inputs);
  const auto composed = value_and_gradients(
      [](Tape&, const std::vector<Var>& x) { return gelu(affine(x[0], x[1], x[2])); }, inputs);
  for (std::size_t i = 0; i < fused.size(); ++i) expect_near(fused[i], composed[i], 20 * tolerance);
  EXPECT_TRUE(same_bits(affine_gelu(inputs[0], inputs[1], inputs[2]).value(), fused[0]))
      << "with and without a tape";
}

TEST(Affine, WithAResidualHasTheBitsOfTheTwoOps) {
  for (std::size_t rows : {1, 40, 900}) {
    const std::vector<Tensor> inputs{random_tensor({rows, 50}, 4), random_tensor({rows, 60}, 1),
                                     random_tensor({60, 50}, 2), random_tensor({50}, 3)};
    const auto fused = value_and_gradients(
        [](Tape&, const std::vector<Var>& x) { return affine_add(x[0], x[1], x[2], x[3]); },
        inputs);
    const auto composed = value_and_gradients(
        [](Tape&, const std::vector<Var>& x) { return x[0] + affine(x[1], x[2], x[3]); }, inputs);
    for (std::size_t i = 0; i < fused.size(); ++i) expect_equal_bits(fused[i], composed[i]);
  }
}

TEST(Affine, NamesShapesInErrors) {
  EXPECT_EQ(error_of([] {
              affine_add(zeros({3, 5}), zeros({2, 3}), zeros({3, 5}), zeros({5}));
            }),
            "[affine_add] w (D, E) does not map x (2, 3) to (3, 5): w (3, 5), bias (5)");
  EXPECT_EQ(error_of([] {
              affine(zeros({2, 3}), zeros({4, 5}), zeros({5}));
            }),
            "[affine] w must be (D, E) for x (.., D): x (2, 3), w (4, 5)");
  EXPECT_EQ(error_of([&] {
              affine(zeros({2, 3}), zeros({3, 0}), zeros({0}));
            }),
            "[affine] w (3, 0) has no columns");
  EXPECT_EQ(error_of([] {
              affine(zeros({2, 3}), zeros({3, 5}), zeros({4}));
            }),
            "[affine] bias must be (E) for w (D, E): w (3, 5), bias (4)");
  EXPECT_EQ(error_of([] {
              affine(zeros({2, 3}), zeros({3, 5}), zeros({5}), {3, 5});
            }),
            "[affine] w (D, E) does not map x (2, 3) to (3, 5): w (3, 5), bias (5)");
}

Var apply_heads(Tape&, const std::vector<Var>& x) { return project_heads(x[0], x[1]); }

TEST(ProjectHeads, IsAProductPerHead) {
  const std::size_t rows = 1300, H = 3, m = 10, d = 6;
  const Tensor x = random_tensor({2, rows / 2, H, d}, 1), w = random_tensor({H, m, d}, 2);
  const Tensor g = random_tensor({2, rows / 2, H, m}, 99);
  const auto results = value_and_gradients(apply_heads, {x, w});
  Tensor y = zeros(g.shape()), dx = zeros(x.shape()), dw = zeros(w.shape());
  for (std::size_t i = 0; i < rows * H; ++i) {
    const real* matrix = w.data() + i % H * m * d;
    naive_product(matrix, x.data() + i * d, m, 1, d, false, false, y.data() + i * m);
    naive_product(g.data() + i * m, matrix, 1, d, m, false, false, dx.data() + i * d);
    for (std::size_t e = 0; e < m * d; ++e)
      dw.data()[i % H * m * d + e] += g.data()[i * m + e / d] * x.data()[i * d + e % d];
  }
  expect_near(results[0], y);
  expect_near(results[1], dx);
  expect_near(results[2], dw, 20 * tolerance);
}

/// Token sums large enough to be split into groups.
TEST(ProjectHeads, BitsDoNotDependOnThreads) {
  expect_equal_bits_for_threads(apply_heads,
                                {random_tensor({5000, 2, 32}, 1), random_tensor({2, 48, 32}, 2)});
}

TEST(ProjectHeads, NamesShapesInErrors) {
  EXPECT_EQ(error_of([] {
              project_heads(zeros({7, 2, 3}), zeros({2, 3, 4}));
            }),
            "[project_heads] w must be (H, m, d) for x (.., H, d): x (7, 2, 3), w (2, 3, 4)");
}

TEST(Orthogonalize, GivesAnOrthogonalMatrixWithTheSameFlags) {
  for (std::size_t n : {1, 2, 17, 64}) {
    const Tensor a = random_tensor({n, n}, n);
    const Tensor q = orthogonalize(a);
    Tensor identity = zeros({n, n});
    for (std::size_t i = 0; i < n; ++i) identity(i, i) = 1;
    expect_near(matmul_tn(q, q).value(), identity);
    const Tensor r = matmul_tn(q, a).value();
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_GT(r(i, i), 0);
      for (std::size_t j = 0; j < i; ++j) EXPECT_NEAR(r(i, j), 0, 20 * tolerance);
    }
  }
  EXPECT_EQ(orthogonalize(zeros({0, 0})).size(), 0u);
  EXPECT_EQ(error_of([] {
              orthogonalize(zeros({2, 3}));
            }),
            "[orthogonalize] the matrix must be square: a (2, 3)");
}

/// Returns the largest |mean| of an element of Q over many Gaussian matrices, in its standard
/// errors: elements of a Haar matrix have mean 0 and variance 1 / n.
double largest_deviation(const std::function<Tensor(const Tensor&)>& factor) {
  const std::size_t n = 4, draws = 2000;
  std::vector<double> sum(n * n, 0);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const Tensor q = factor(random_tensor({n, n}, 1000 + draw));
    for (std::size_t i = 0; i < n * n; ++i) sum[i] += q.data()[i];
  }
  double worst = 0;
  for (double s : sum) worst = std::max(worst, std::abs(s) / std::sqrt(double(draws) / double(n)));
  return worst;
}

TEST(Orthogonalize, IsUniformWhereLapackIsNot) {
  EXPECT_LT(largest_deviation(orthogonalize), 5);
  const auto raw = [](const Tensor& a) { return Tensor(std::get<0>(xt::linalg::qr(a))); };
  EXPECT_GT(largest_deviation(raw), 5);
}

}  // namespace ops_linalg_test
}  // namespace bochner::inline BOCHNER_PRECISION
