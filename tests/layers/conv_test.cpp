#include <bochner/layers/basic/conv.hpp>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace layers_conv_test {

using namespace layer_check;

template <class Layer>
void check(Layer& layer, const Shape& input, const Shape& output) {
  randomize(layer);
  const auto forward = [&](Tape& tape, const Var& x) { return layer.forward(tape, x); };
  check_layer(layer, random_tensor(input, 1), forward);
  Tape tape;
  EXPECT_EQ(to_string(forward(tape, random_tensor(input, 1)).shape()), to_string(output));
}

TEST(Conv1dLayer, IsDifferentiable) {
  Conv1d layer(4, 6, 3, {2, 1, 2});
  EXPECT_EQ(to_string(parameters_of(layer)[0].parameter->shape()), "(3, 2, 6)");
  check(layer, {2, 7, 4}, {2, 4, 6});
  EXPECT_EQ(op_check::error_of([] {
              Conv1d(4, 6, 3, {1, 0, 4});
            }),
            "[conv] 4 groups must divide 4 and 6 channels");
}

TEST(Conv2dLayer, IsDifferentiable) {
  Conv2d layer(3, 2, 3, {1, 1, 1});
  check(layer, {2, 4, 3, 3}, {2, 4, 3, 2});
}

TEST(Separable, HasAKernelForEachChannelAndAMatrix) {
  Separable<Conv2d> layer(3, 5, 3, {2, 1});
  EXPECT_EQ(count_parameters(layer), 9u * 3 + 3 + 3 * 5 + 5);
  check(layer, {1, 5, 4, 3}, {1, 3, 2, 5});
}

TEST(PoolingLayer, IsOneOfTwo) {
  Pooling largest("max"), mean("mean", {3, 1, 1});
  check(mean, {1, 4, 2}, {1, 4, 2});
  Tape tape;
  EXPECT_EQ(to_string(largest.forward(tape, zeros({1, 5, 5, 2})).shape()), "(1, 2, 2, 2)");
  EXPECT_EQ(op_check::error_of([] { Pooling("min"); }),
            "[pooling] no pooling is called \"min\"; there are: max, mean");
}

}  // namespace layers_conv_test
}  // namespace bochner::inline BOCHNER_PRECISION
