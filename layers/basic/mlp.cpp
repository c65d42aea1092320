#include <bochner/layers/basic/mlp.hpp>

namespace bochner::inline BOCHNER_PRECISION {

MLP::MLP(std::size_t width, std::size_t hidden) : up_(width, hidden), down_(hidden, width) {}

Var MLP::forward(Tape& tape, const Var& x) {
  return down_.forward(tape, up_.forward_gelu(tape, x));
}

void MLP::visit(Visitor& visitor) {
  visitor("up", up_);
  visitor("down", down_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
