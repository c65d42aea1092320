#include <bochner/autodiff/ops/random.hpp>
#include <bochner/layers/basic/dropout.hpp>

namespace bochner::inline BOCHNER_PRECISION {

Dropout::Dropout(double rate) : rate_(real(rate)) {
  require(rate >= 0 && rate < 1, "dropout", "the rate must be in [0, 1), not ", rate);
}

Var Dropout::forward(Tape& tape, const Var& x) const {
  return rate_ == 0 ? x : dropout(tape, x, rate_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
