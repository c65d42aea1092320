#include <gmock/gmock.h>

#include <bochner/optim/optimizer.hpp>

#include "optim/parameters.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace own_optimizer_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// The sign of a mean of gradients; a program's own optimizer with a key.
struct SignSpec {
  double share = 0.1;
};
void describe(Keys& keys, SignSpec& spec) {
  keys("share", spec.share, above(0), "share of the gradient in the running mean");
}
class SignOfMean : public Optimizer {
 public:
  SignOfMean(const OptimizerSpec& spec, const SignSpec& own)
      : Optimizer(spec, {"mean"}), share_(real(own.share)) {}

 private:
  void update(const Piece& piece, double learning_rate, double) override {
    real* mean = moment(0, piece);
    for (std::size_t i = 0; i < piece.size; ++i) {
      mean[i] += share_ * (piece.gradient[i] - mean[i]);
      piece.weight[i] -= real(learning_rate) * (mean[i] > 0 ? real(1) : real(-1));
    }
  }
  real share_;
};

TEST(OwnOptimizer, IsChosenByName) {
  optimizers().add("sign_of_mean", make<SignOfMean, SignSpec>);
  TestParameters parameters({{"a", {2}}});
  const auto optimizer = make_optimizer({.kind = "sign_of_mean"}, parameters.named());
  add_gradient(parameters[0], Tensor{real(3), real(-2)});
  optimizer->step(0.25);
  EXPECT_EQ(parameters[0].value(), (Tensor{real(-0.25), real(0.25)}));
  EXPECT_EQ(optimizer->state()[1].name, "sign_of_mean.mean/a");
  EXPECT_NEAR(optimizer->state()[1].tensor->data()[0], 0.3, 1e-7);
  OptimizerSpec spec{.kind = "sign_of_mean"};
  spec.own.of<SignSpec>().share = 0;
  EXPECT_THAT([&] { make_optimizer(spec, parameters.named()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("share = 0")));
}

}  // namespace own_optimizer_test
}  // namespace bochner::inline BOCHNER_PRECISION
