#pragma once
#include <bochner/layers/basic/position_wise.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Effects of a row's covariates on its variates: W2 gelu(W1 c + b), or W c without hidden units;
/// initially 0. They are subtracted from the past and added to the forecast: dynamic regression
/// (Pankratz, "Forecasting with dynamic regression models", 1991). (B, T, C) -> (B, V, T)
class RowEffects : public Module {
 public:
  RowEffects(std::size_t covariates, std::size_t hidden, std::size_t variates);
  Var forward(Tape& tape, const Var& covariates);
  void visit(Visitor& visitor) override {
    if (up_) visitor("up", *up_);
    visitor("down", down_);
  }

 private:
  std::unique_ptr<Linear> up_;
  Parameter down_;
};

/// Makes numbers ascend: x[.., middle] stays, each further one adds or subtracts a softplus, so
/// that rounding cannot make them cross. (.., Q) -> (.., Q)
Var ascending(const Var& x, std::size_t middle);
/// Returns the index of the level nearest to 1/2.
std::size_t median_index(const std::vector<double>& levels);

}  // namespace bochner::inline BOCHNER_PRECISION
