#pragma once
#include <bochner/layers/basic/linear.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Two linear maps with a gelu between them. (.., D) -> (.., D) through (.., hidden)
class MLP : public Module {
 public:
  MLP(std::size_t width, std::size_t hidden);
  Var forward(Tape& tape, const Var& x);
  void visit(Visitor& visitor) override;

 private:
  Linear up_, down_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
