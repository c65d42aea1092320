#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bochner/autodiff/forward_mode.hpp>
#include <bochner/autodiff/ops.hpp>
#include <cmath>

#include "autodiff/op_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace forward_mode_test {

using op_check::error_of;
using op_check::expect_equal_bits;
using op_check::expect_near;
using op_check::is_double;
using op_check::random_tensor;
using testing::HasSubstr;

/// Parameters p0, p1, ..
class Parameters {
 public:
  explicit Parameters(const std::vector<Tensor>& values) {
    for (const Tensor& value : values) all_.emplace_back(value);
    for (std::size_t i = 0; i < all_.size(); ++i)
      named_.push_back({std::string("p").append(std::to_string(i)), &all_[i]});
  }
  Parameter& operator[](std::size_t i) { return all_[i]; }
  const std::vector<NamedParameter>& named() const { return named_; }

 private:
  std::vector<Parameter> all_;
  std::vector<NamedParameter> named_;
};

Tensor waves(const Shape& shape, double k, double phase) {
  Tensor x = uninitialized(shape);
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = real(std::sin(double(i) * 1.7 + k * 0.9 + phase));
  return x;
}

const std::vector<Shape> golden_shapes = {{3}, {3}, {3, 4}, {4}, {4, 3}, {3}};

std::vector<Tensor> golden_arrays(double phase) {
  std::vector<Tensor> all;
  for (std::size_t k = 0; k < golden_shapes.size(); ++k)
    all.push_back(waves(golden_shapes[k], double(k), phase));
  return all;
}

/// Computed by PyTorch in double with tests/golden/hessian.py, which defines the model.
const std::vector<std::vector<double>> golden = {
#include "golden/hessian.inc"
};

Var golden_loss(Tape& tape, Parameters& p) {
  const Var x(waves({5, 3}, 7, 0.3));
  const Var h = layer_norm(x, tape(p[0]), tape(p[1]));
  return affine_cross_entropy(affine_gelu(h, tape(p[2]), tape(p[3])), tape(p[4]), tape(p[5]),
                              Indices{{5}, {0, 2, 1, 1, 0}});
}

TEST(ForwardMode, HessianProductsAreThoseOfPyTorch) {
  Parameters parameters(golden_arrays(0.1));
  const auto loss = [&](Tape& tape) { return golden_loss(tape, parameters); };
  const std::vector<Tensor> products = hvp(loss, parameters.named(), golden_arrays(2.5));
  ASSERT_EQ(golden.size(), products.size());
  for (std::size_t k = 0; k < golden.size(); ++k)
    for (std::size_t i = 0; i < golden[k].size(); ++i)
      EXPECT_NEAR(double(products[k].data()[i]), golden[k][i], is_double ? 1e-8 : 1e-4);
}

TEST(ForwardMode, ProductsLeaveGradientsAndTangentsAlone) {
  Parameters parameters(golden_arrays(0.1));
  const auto loss = [&](Tape& tape) { return golden_loss(tape, parameters); };
  Tape before;
  before.backward(loss(before));
  const Tensor gradient = parameters[2].gradient();
  parameters[3].zero_gradient();
  hvp(loss, parameters.named(), golden_arrays(2.5));
  fisher_product(loss, parameters.named(), golden_arrays(2.5));
  expect_equal_bits(parameters[2].gradient(), gradient);
  EXPECT_FALSE(parameters[3].has_gradient());
  Tape after({.tangents = Tangents::exact});
  EXPECT_FALSE(tangent_of(loss(after)).exists());
}

TEST(ForwardMode, ProductsDoNotDependOnThreads) {
  Parameters parameters({random_tensor({40, 50}, 1), random_tensor({50}, 2)});
  const auto loss = [&](Tape& tape) {
    const Var y =
        tanh(affine(Var(random_tensor({3000, 40}, 3)), tape(parameters[0]), tape(parameters[1])));
    return mean_squared_error(y, random_tensor({3000, 50}, 4));
  };
  const std::vector<Tensor> v{random_tensor({40, 50}, 5), random_tensor({50}, 6)};
  for (const auto product : {hvp, fisher_product}) {
    set_thread_count(1);
    const std::vector<Tensor> one = product(loss, parameters.named(), v, {});
    for (std::size_t threads : {2, 3}) {
      set_thread_count(threads);
      const std::vector<Tensor> many = product(loss, parameters.named(), v, {});
      for (std::size_t k = 0; k < v.size(); ++k) expect_equal_bits(many[k], one[k]);
    }
  }
  set_thread_count(0);
}

/// Returns F v of softmax regression from its definition: the mean over rows of J^T (diag p - p
/// p^T) J v, J v = x V + v_bias.
std::vector<Tensor> explicit_fisher(const Tensor& x, const Tensor& w, const Tensor& b,
                                    const std::vector<Tensor>& v) {
  const std::size_t n = x.shape()[0], D = w.shape()[0], C = w.shape()[1];
  std::vector<Tensor> product{zeros(w.shape()), zeros(b.shape())};
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> p(C), moved(C);
    double total = 0, mean = 0;
    for (std::size_t c = 0; c < C; ++c) {
      double logit = double(b(c));
      moved[c] = double(v[1](c));
      for (std::size_t d = 0; d < D; ++d) {
        logit += double(x(i, d)) * double(w(d, c));
        moved[c] += double(x(i, d)) * double(v[0](d, c));
      }
      total += p[c] = std::exp(logit);
    }
    for (std::size_t c = 0; c < C; ++c) mean += (p[c] /= total) * moved[c];
    for (std::size_t c = 0; c < C; ++c) {
      const double slope = p[c] * (moved[c] - mean) / double(n);
      product[1](c) += real(slope);
      for (std::size_t d = 0; d < D; ++d) product[0](d, c) += real(double(x(i, d)) * slope);
    }
  }
  return product;
}

TEST(FisherProduct, IsThatOfTheExplicitMatrixForSoftmaxRegression) {
  Parameters parameters({random_tensor({4, 3}, 1), random_tensor({3}, 2)});
  const Tensor x = random_tensor({9, 4}, 3);
  const Indices labels{{9}, {0, 1, 2, 2, 1, 0, 0, 2, 1}};
  const auto loss = [&](Tape& tape) {
    return cross_entropy(affine(Var(x), tape(parameters[0]), tape(parameters[1])), labels);
  };
  const std::vector<Tensor> v{random_tensor({4, 3}, 4), random_tensor({3}, 5)};
  const auto expected = explicit_fisher(x, parameters[0].value(), parameters[1].value(), v);
  const auto product = fisher_product(loss, parameters.named(), v);
  for (std::size_t k = 0; k < 2; ++k)
    expect_near(product[k], expected[k], is_double ? 1e-10 : 1e-5);
}

TEST(FisherProduct, DropsTheCurvatureOfTheModel) {
  Parameters parameters({filled({}, real(0.3))});
  const auto loss = [&](Tape& tape) {
    return 3 * mean_squared_error(exp(tape(parameters[0])), filled({}, 5));
  };
  const double slope = std::exp(0.3), error = slope - 5;  // y = y' = y'' = e^x
  const std::vector<Tensor> v{filled({}, 2)};
  const double tolerance = is_double ? 1e-12 : 1e-4;
  EXPECT_NEAR(double(fisher_product(loss, parameters.named(), v)[0]()), 12 * slope * slope,
              tolerance);
  EXPECT_NEAR(double(hvp(loss, parameters.named(), v)[0]()), 12 * slope * (slope + error),
              tolerance);
}

TEST(FisherProduct, RefusesLossesThatAreNoSumsOfLikelihoods) {
  Parameters parameters({random_tensor({4}, 1)});
  const Tensor targets = random_tensor({4}, 2);
  const auto error = [&](const std::function<Var(const Var&)>& f) {
    return error_of<TangentError>([&] {
      fisher_product([&](Tape& tape) { return f(tape(parameters[0])); }, parameters.named(),
                     {random_tensor({4}, 3)});
    });
  };
  EXPECT_THAT(error([&](const Var& w) { return mean_absolute_error(w, targets); }),
              HasSubstr("the loss has no likelihood"));
  EXPECT_THAT(error([&](const Var& w) { return mean_squared_error(w, targets) + mean(square(w)); }),
              HasSubstr("[add] adds a term"));
  EXPECT_THAT(error([&](const Var& w) { return exp(mean_squared_error(w, targets)); }),
              HasSubstr("[exp] is not linear"));
  EXPECT_EQ(error([&](const Var& w) { return mean_squared_error(w, targets) * 2 + 1; }),
            "no error");
}

TEST(ForwardMode, NamesTheOpWithoutARule) {
  const auto f = [](Tape&, const std::vector<Var>& x) {
    return batch_norm(x[0], Var(filled({3}, 1)), Var(zeros({3})));
  };
  EXPECT_EQ(error_of<TangentError>([&] {
              jvp(f, {random_tensor({4, 3}, 1)}, {random_tensor({4, 3}, 2)});
            }),
            "[batch_norm] has no tangent rule: jvp, hvp and natural_cg need one");
}

TEST(ForwardMode, RefusesDirectionsOfOtherShapes) {
  const auto f = [](Tape&, const std::vector<Var>& x) { return exp(x[0]); };
  EXPECT_EQ(error_of([&] { jvp(f, {zeros({3})}, {zeros({2})}); }),
            "[jvp] a direction has shape (2), its array (3)");
  EXPECT_EQ(error_of([&] { jvp(f, {zeros({3})}, {}); }), "[jvp] 0 directions for 1 arrays");
}

TEST(ForwardMode, CheckpointsAndDropoutHaveTangents) {
  Parameters parameters({random_tensor({6}, 1)});
  const auto loss_of = [&](bool stored) {
    return [&, stored](Tape& tape) {
      const auto f = [](Tape& segment, const Var& x) { return dropout(segment, square(x), 0.5); };
      const Var x = tape(parameters[0]);
      return sum(square(stored ? checkpoint(tape, f, x) : f(tape, x)));
    };
  };
  const std::vector<Tensor> v{random_tensor({6}, 2)};
  const PassOptions options{.training = true, .seed = 4};
  const Tensor product = hvp(loss_of(false), parameters.named(), v, options)[0];
  expect_equal_bits(hvp(loss_of(true), parameters.named(), v, options)[0], product);
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < 6; ++i) {  // d2/dx2 of (2 x^2)^2 is 48 x^2
    const double x = double(parameters[0].value()(i));
    dropped += product(i) == 0;
    const double expected = product(i) == 0 ? 0 : 48 * x * x * double(v[0](i));
    EXPECT_NEAR(double(product(i)), expected, is_double ? 1e-9 : 1e-2);
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_LT(dropped, 6u);
}

}  // namespace forward_mode_test
}  // namespace bochner::inline BOCHNER_PRECISION
