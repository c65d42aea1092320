#include <bochner/bochner.hpp>
using namespace bochner;

struct SignumSpec {
  double kept = 0.9;
};
void describe(Keys& keys, SignumSpec& spec) {
  keys("kept", spec.kept, below(0, 1), "share of the mean gradient that is kept at each step");
}

/// w -= lr (sign(m) + decay w) with the mean gradient m: Bernstein et al., "signSGD: compressed
/// optimisation for non-convex problems", 2018.
class Signum : public Optimizer {
 public:
  Signum(const OptimizerSpec& spec, const SignumSpec& own)
      : Optimizer(spec, {"mean"}), fresh_(real(1 - own.kept)) {}

 private:
  void update(const Piece& piece, double learning_rate, double weight_decay) override {
    real* mean = moment(0, piece);
    for (std::size_t i = 0; i < piece.size; ++i) {
      mean[i] += fresh_ * (piece.gradient[i] - mean[i]);
      const real sign = real(mean[i] > 0) - real(mean[i] < 0);
      piece.weight[i] -= real(learning_rate) * (sign + real(weight_decay) * piece.weight[i]);
    }
  }

  real fresh_;
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
  optimizers().add("signum", make<Signum, SignumSpec>);
  schedules().add("trapezoid", make<Trapezoid>);
}
