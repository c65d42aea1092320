#pragma once
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// y = x weight + bias, weight (in, out), both started uniformly in +-1/sqrt(in). (.., in) -> (..,
/// out)
class Linear : public Module {
 public:
  Linear(std::size_t in, std::size_t out);
  Var forward(Tape& tape, const Var& x);
  /// The same elements in another shape, as x may be: rows are rows of `in`.
  Var forward(Tape& tape, const Var& x, const Shape& shape);
  /// gelu(y)
  Var forward_gelu(Tape& tape, const Var& x);
  void visit(Visitor& visitor) override;

 private:
  Parameter weight_, bias_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
