#include <bochner/autodiff/ops.hpp>
#include <bochner/layers/models/label_loss.hpp>
#include <cmath>

#include "layers/layer_check.hpp"

namespace bochner::inline BOCHNER_PRECISION {
namespace label_loss_test {

TEST(LabelLoss, WeighsClassesAndSmoothsTargets) {
  const Tensor logits = {{real(0), real(std::log(3.0))}, {real(0), real(0)}};
  const Indices labels{{2}, {1, 0}};
  const double first = 0.9 * std::log(4 / 3.0) + 0.1 * std::log(4.0), second = std::log(2.0);
  const auto loss = [&](const std::vector<double>& weights) {
    return double(label_loss(Var(logits), labels, 0.2, weights).value()());
  };
  EXPECT_NEAR(loss({}), (first + second) / 2, 1e-6);
  EXPECT_NEAR(loss({1, 1}), (first + second) / 2, 1e-6);
  EXPECT_NEAR(loss({0.5, 3}), (3 * first + 0.5 * second) / 2, 1e-6);
}

TEST(LabelLoss, BalancesClasses) {
  EXPECT_EQ(balanced_weights({30, 10, 0}), (std::vector<double>{40 / 90.0, 40 / 30.0, 1}));
}

}  // namespace label_loss_test
}  // namespace bochner::inline BOCHNER_PRECISION
