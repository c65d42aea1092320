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

TEST(Norm, IsDifferentiable) {
  for (const char* kind : {"layer", "rms"}) {
    const std::unique_ptr<Norm> norm = make_norm(kind, 6);
    check(*norm, {2, 3, 6});
  }
  EXPECT_EQ(op_check::error_of([] { make_norm("batch", 6); }),
            "[norm] no normalisation is called \"batch\"; there are: layer, rms");
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
  EXPECT_EQ(Dropout(0.5).forward(tape, x).data()[7], x.data()[7]);
  tape.training = true;
  const Tensor y = Dropout(0.5).forward(tape, x).value();
  const auto zeroed = std::count(y.begin(), y.end(), real(0));
  EXPECT_NEAR(double(zeroed), 1000, 5 * std::sqrt(500.0));
  EXPECT_EQ(op_check::error_of([] { Dropout(1); }), "[dropout] the rate must be in [0, 1), not 1");
}

}  // namespace basic_test
}  // namespace bochner::inline BOCHNER_PRECISION
