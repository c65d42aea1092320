#pragma once
#include <bochner/layers/basic/position_wise.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// What the covariates of a row add to its variates: W2 gelu(W1 c + b), or W c without hidden
/// units; nothing at the start. The past less its effects is forecast, and the effects of the rows
/// to come are added: dynamic regression (Pankratz, "Forecasting with dynamic regression models",
/// 1991). (B, T, C) -> (B, V, T)
class RowEffects : public Module {
 public:
  RowEffects(std::size_t covariates, std::size_t hidden, std::size_t variates);
  Var forward(Tape& tape, const Var& covariates);
  void visit(Visitor& visitor) override;

 private:
  std::unique_ptr<Linear> up_;
  Parameter down_;
};

/// Ascending numbers made of any: x[.., middle] stays, those above and below it are a softplus away
/// from the one before. Not even rounding makes them cross. (.., Q) -> (.., Q)
Var ascending(const Var& x, std::size_t middle);
/// Which level is nearest to 1/2.
std::size_t middle_of(const std::vector<double>& levels);

}  // namespace bochner::inline BOCHNER_PRECISION
