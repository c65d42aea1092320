#include <bochner/layers/basic/position_wise.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace basic_test {

using namespace layer_check;

template <class Layer>
void check(Layer& layer, const Shape& shape) {
  randomize(layer);
  check_layer(layer, random_tensor(shape, 1),
              [&](Tape& tape, const Var& x) { return layer.forward(tape, x); });
}

TEST(Linear, IsDifferentiable) {
  Linear layer(5, 3);
  EXPECT_EQ(names_of(layer), (std::vector<std::string>{"weight", "bias"}));
  EXPECT_EQ(to_string(parameters_of(layer)[0].parameter->shape()), "(5, 3)");
  check(layer, {2, 4, 5});
}

TEST(MLP, IsDifferentiable) {
  MLP layer(3, 7);
  check(layer, {2, 4, 3});
}

TEST(MLP, OfAGateIsDifferentiable) {
  MLP layer(3, 2, "swiglu");
  EXPECT_EQ(count_parameters(layer), 3u * 4 + 4 + 2 * 3 + 3);
  check(layer, {2, 4, 3});
  EXPECT_EQ(op_check::error_of([] { MLP(3, 7, "relu"); }),
            "[mlp] no MLP is called \"relu\"; there are: gelu, swiglu");
}

TEST(GatedOutput, IsDifferentiable) {
  GatedOutput layer(3);
  EXPECT_EQ(names_of(layer), (std::vector<std::string>{"weight", "bias"}));
  check(layer, {2, 4, 3});
}

TEST(Norm, IsDifferentiable) {
  for (const char* kind : {"layer", "rms", "batch"}) {
    const std::unique_ptr<Norm> norm = norms().make(kind, {6});
    check(*norm, {2, 3, 6});
  }
  EXPECT_EQ(op_check::error_of([] { norms().make("group", {6}); }),
            "[norm] no norm is called \"group\"; there are: layer, rms, batch");
}

/// Batches of mean 2 and deviation 3 with padding.
TEST(BatchNorm, EvaluatesByRunningMoments) {
  BatchNorm norm(2, 0.5);
  const std::vector<std::size_t> lengths{3, 40};
  Tensor x = random_tensor({2, 40, 2}, 1);
  for (real& e : x) e = 2 + 3 * e;
  const auto pass = [&](bool training, bool backward) {
    Tape tape;
    tape.training = training;
    const Var y = norm.forward(tape, tape.input(x), lengths);
    if (backward) tape.backward(y, filled(y.shape(), 1));
    return y.value();
  };
  const Tensor first = pass(false, true);
  op_check::expect_near(first, x, 1e-4);  // initially mean 0, variance 1
  pass(true, false);
  op_check::expect_equal_bits(pass(false, true), first);  // unchanged
  const Tensor trained = pass(true, true);
  for (int i = 0; i < 40; ++i) pass(true, true);
  const Tensor evaluated = pass(false, false);
  const double n = 43, unbiased = std::sqrt((n - 1) / n);
  for (std::size_t t = 0; t < 40; ++t)
    for (std::size_t c = 0; c < 2; ++c)
      EXPECT_NEAR(evaluated(1, t, c), trained(1, t, c) * unbiased, 1e-4);
  EXPECT_EQ(trained(0, 3, 0), real(0));
  EXPECT_EQ(buffers_of(norm).size(), 2u);
}

TEST(Embedding, IsDifferentiable) {
  Embedding layer(4, 3);
  randomize(layer);
  check_layer(layer, random_tensor({1}, 1), [&](Tape& tape, const Var&) {
    return layer.forward(tape, Indices{{2, 3}, {0, 1, 1, 3, 0, 1}});
  });
}

TEST(DropoutLayer, ActsInTrainingOnly) {
  const Tensor x = random_tensor({40, 50}, 1);
  Tape tape;
  EXPECT_EQ(Dropout(0.5).forward(tape, x).value().data()[7], x.data()[7]);
  tape.training = true;
  const Tensor y = Dropout(0.5).forward(tape, x).value();
  const auto zeroed = std::count(y.begin(), y.end(), real(0));
  EXPECT_NEAR(double(zeroed), 1000, 5 * std::sqrt(500.0));
  EXPECT_EQ(op_check::error_of([] { Dropout(1); }), "[dropout] the rate must be in [0, 1), not 1");
}

}  // namespace basic_test
}  // namespace bochner::inline BOCHNER_PRECISION
