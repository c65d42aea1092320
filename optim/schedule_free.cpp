#include <algorithm>
#include <bochner/optim/optimizer.hpp>
#include <cmath>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// AdamW that averages its iterates z instead of following a schedule to zero. With v = mean of
/// g^2, bias-corrected, of gradients g at the weights y, and c = lr^2 / (sum of lr^2 so far):
///   z -= lr (g / (sqrt(v) + epsilon) + decay y),  x = (1 - c) x + c z,  y = (1 - b) z + b x,
/// where b is beta1. The weights of training are y, those of evaluations x; both start at z.
/// Eliminating x, y moves without it, and x is a running mean of y, see average_shares(). Defazio
/// et al., "The road less scheduled", 2024.
class ScheduleFree : public Optimizer {
 public:
  explicit ScheduleFree(const OptimizerSpec& spec)
      : Optimizer(spec, {"iterate", "second_moment"}, {}, 1), shares_(spec.parameters.size()) {
    require(!spec.density_natural, "optim",
            "density_natural = true is for other kinds than schedule_free, whose iterates have no "
            "such units");
  }

  /// y = (1 - b) z + b x turns x' = (1 - c) x + c z into x' = x + c / (1 - b + b c) (y - x).
  std::vector<double> average_shares() const override {
    std::vector<double> shares;
    for (const double c : shares_) shares.push_back(c / (1 - spec_.beta1 + spec_.beta1 * c));
    return shares;
  }

 private:
  void begin_step(double learning_rate) override {
    const double square = learning_rate * learning_rate;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      const bool is_updated = spec_.parameters[i].parameter->has_gradient();
      real& sum = number(0, i);
      if (is_updated) sum = real(double(sum) + square);
      shares_[i] = is_updated && sum > 0 ? std::min(1.0, square / double(sum)) : 0;
    }
  }

  void update(const Piece& piece, double learning_rate, double weight_decay) override {
    const double t = updates(piece), c = shares_[piece.parameter];
    const real root_correction = real(1 / std::sqrt(1 - std::pow(spec_.beta2, t)));
    const real kept = real(spec_.beta2), share = real(1 - spec_.beta2);
    const real epsilon = std::max(real(spec_.epsilon), std::numeric_limits<real>::min());
    const real rate = real(learning_rate), shrink = real(learning_rate * weight_decay);
    const real to_iterate = real(c), step = real(1 - spec_.beta1 + spec_.beta1 * c);
    const bool cautious = is_cautious();
    real* __restrict weight = piece.weight;
    const real* __restrict gradient = piece.gradient;
    real* __restrict iterate = moment(0, piece);
    real* __restrict second = moment(1, piece);
    if (t == 1) std::copy(weight, weight + piece.size, iterate);
    for (std::size_t i = 0; i < piece.size; ++i) {
      const real g = gradient[i];
      second[i] = kept * second[i] + share * (g * g);
      const real change = rate * g / (std::sqrt(second[i]) * root_correction + epsilon) +
                          decay_of(cautious, shrink, g, weight[i]);
      weight[i] += to_iterate * (iterate[i] - weight[i]) - step * change;
      iterate[i] -= change;
    }
  }

  std::vector<double> shares_;  // c of each parameter in this step
};

}  // namespace

void add_schedule_free(Optimizers& all) { all.add("schedule_free", make<ScheduleFree>); }

}  // namespace bochner::inline BOCHNER_PRECISION
