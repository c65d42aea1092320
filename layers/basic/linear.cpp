#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/layers/basic/linear.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {

Linear::Linear(std::size_t in, std::size_t out)
    : weight_({in, out}, Initial::uniform(1 / std::sqrt(double(in)))),
      bias_({out}, Initial::uniform(1 / std::sqrt(double(in)))) {}

Var Linear::forward(Tape& tape, const Var& x) { return affine(x, tape(weight_), tape(bias_)); }

Var Linear::forward(Tape& tape, const Var& x, const Shape& shape) {
  return affine(x, tape(weight_), tape(bias_), shape);
}

Var Linear::forward_gelu(Tape& tape, const Var& x) {
  return affine_gelu(x, tape(weight_), tape(bias_));
}

void Linear::visit(Visitor& visitor) {
  visitor("weight", weight_);
  visitor("bias", bias_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
