#include <bochner/layers/basic/embedding.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Embedding::Embedding(std::size_t vocabulary, std::size_t width)
    : weight_({vocabulary, width}, Initial::normal(0.02)) {}

Var Embedding::forward(Tape& tape, const Indices& indices) {
  return gather(tape(weight_), indices);
}

void Embedding::visit(Visitor& visitor) { visitor("weight", weight_); }

}  // namespace bochner::inline BOCHNER_PRECISION
