#pragma once
#include <bochner/optim/optimizer.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// m = mean of g, v = mean of g^2, both bias-corrected for t updates; w -= lr * m / (1 - beta1^t) /
/// (sqrt(v / (1 - beta2^t)) + epsilon). "adam" adds decay to the gradient, Kingma, Ba (2015);
/// "adamw" subtracts lr * decay * w, Loshchilov, Hutter (2019).
class Adam : public Optimizer {
 public:
  explicit Adam(const OptimizerSpec& spec) : Optimizer(spec, {"first_moment", "second_moment"}) {}

 protected:
  Adam(const OptimizerSpec& spec, const WholeTensors& whole)
      : Optimizer(spec, {"first_moment", "second_moment"}, whole) {}
  void update(const Piece& piece, double learning_rate, double weight_decay) override;
};

}  // namespace bochner::inline BOCHNER_PRECISION
