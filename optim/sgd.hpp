#pragma once

#include <bochner/optim/optimizer.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// g' = g + decay w;  v = momentum v + g';  w -= lr v, or lr (g' + momentum v) with Nesterov's
/// look-ahead. No dampening, as in Sutskever, Martens, Dahl, Hinton (2013) and PyTorch.
class Sgd : public Optimizer {
 public:
  Sgd(const std::vector<NamedParameter>& parameters, std::vector<ParameterSettings> settings,
      double momentum, bool nesterov);

 private:
  void update(const Piece& piece, double learning_rate, double weight_decay) override;

  double momentum_;
  bool nesterov_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
