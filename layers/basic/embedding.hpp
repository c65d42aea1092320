#pragma once
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/layers/module.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Rows of a table (vocabulary, width), started normally with deviation 0.02. indices (..) -> (..,
/// width)
class Embedding : public Module {
 public:
  Embedding(std::size_t vocabulary, std::size_t width);
  Var forward(Tape& tape, const Indices& indices);
  void visit(Visitor& visitor) override;

 private:
  Parameter weight_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
