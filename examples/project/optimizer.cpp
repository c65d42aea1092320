#include <bochner/bochner.hpp>
using namespace bochner;

struct LionSpec {
  double kept = 0.99;
};
void describe(Keys& keys, LionSpec& spec) {
  keys("kept", spec.kept, below(0, 1), "share of the mean gradient that is kept at each step");
}

/// w -= lr (sign(beta1 m + (1 - beta1) g) + decay w) with the mean gradient m: Chen et al.,
/// "Symbolic discovery of optimization algorithms", 2023.
class Lion : public Optimizer {
 public:
  Lion(const OptimizerSpec& spec, const LionSpec& own)
      : Optimizer(spec, {"mean"}), beta_(real(spec.beta1)), fresh_(real(1 - own.kept)) {}

 private:
  void update(const Piece& piece, double learning_rate, double weight_decay) override {
    real* mean = moment(0, piece);
    for (std::size_t i = 0; i < piece.size; ++i) {
      const real g = piece.gradient[i], direction = beta_ * mean[i] + (1 - beta_) * g;
      const real sign = real(direction > 0) - real(direction < 0);
      piece.weight[i] -= real(learning_rate) * (sign + real(weight_decay) * piece.weight[i]);
      mean[i] += fresh_ * (g - mean[i]);
    }
  }

  real beta_, fresh_;
};

/// The peak for two thirds of the steps, then a line to the floor.
class Trapezoid : public LearningRateCurve {
 public:
  explicit Trapezoid(const Schedule& schedule) : floor_(schedule.floor) {}
  double at(const ScheduledStep& now) const override {
    const double rest = double(now.total_steps - now.step) / double(now.total_steps);
    return floor_ + (now.peak - floor_) * std::min(1.0, 3 * rest);
  }

 private:
  double floor_;
};

void add_optimizer() {
  optimizers().add("lion", make<Lion, LionSpec>);
  schedules().add("trapezoid", make<Trapezoid>);
}
