#pragma once

#include <bochner/optim/optimizer.hpp>

namespace bochner::inline BOCHNER_PRECISION {

enum class WeightDecay {
  in_gradient,  ///< L2 penalty: goes through the moments (Adam)
  decoupled     ///< w -= lr * decay * w beside them (AdamW)
};

/// m = mean of g, v = mean of g^2, both corrected for their start at 0 by the number t of updates;
/// w -= lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon).
/// Kingma, Ba (2015); decoupled decay: Loshchilov, Hutter (2019).
class Adam : public Optimizer {
 public:
  Adam(const std::vector<NamedParameter>& parameters, std::vector<ParameterSettings> settings,
       WeightDecay decay, double beta1, double beta2, double epsilon);

 private:
  void update(const Piece& piece, double learning_rate, double weight_decay) override;

  WeightDecay decay_;
  double beta1_, beta2_, epsilon_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
