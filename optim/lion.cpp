#include <bochner/optim/lion.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// w -= lr (sign(beta1 m + (1 - beta1) g) + decay w), m = beta2 m + (1 - beta2) g. Chen et al.,
/// "Symbolic discovery of optimization algorithms", 2023.
class Lion : public Optimizer {
 public:
  Lion(const OptimizerSpec& spec, const LionSpec& own)
      : Optimizer(spec, {"mean"}),
        share1_(real(1 - own.lion.beta1)),
        share2_(real(1 - own.lion.beta2)) {}

 private:
  void update(const Piece& piece, double learning_rate, double weight_decay) override {
    const real rate = real(learning_rate), shrink = real(learning_rate * weight_decay);
    const bool cautious = is_cautious();
    real* __restrict weight = piece.weight;
    real* __restrict mean = moment(0, piece);
    for (std::size_t i = 0; i < piece.size; ++i) {
      const real difference = piece.gradient[i] - mean[i];
      const real direction = mean[i] + share1_ * difference;
      const real sign = real(direction > 0) - real(direction < 0);
      weight[i] -= rate * sign + decay_of(cautious, shrink, sign, weight[i]);
      mean[i] += share2_ * difference;
    }
  }

  real share1_, share2_;
};

}  // namespace

void add_lion(Optimizers& all) { all.add("lion", make<Lion, LionSpec>); }

}  // namespace bochner::inline BOCHNER_PRECISION
