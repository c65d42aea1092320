#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Mean over the elements of value(x, t), whose derivative to x is slope(x, t); 0 of no elements.
template <class Value, class Slope>
Var mean_loss(const char* op, const Var& x, const Tensor& targets, const Value& value,
              const Slope& slope) {
  require(x.shape() == targets.shape(), op, "shapes differ: x ", x.shape(), ", targets ",
          targets.shape());
  const std::size_t n = x.size(), divisor = std::max<std::size_t>(1, n);
  const double sum =
      parallel_sum<double>(n, elementwise_grain, [&](std::size_t begin, std::size_t end) {
        double chunk = 0;
        for (std::size_t i = begin; i < end; ++i)
          chunk += double(value(x.data()[i], targets.data()[i]));
        return chunk;
      });
  return record(op, filled({}, real(sum / double(divisor))), {x},
                [x, targets, slope, n, divisor](Tensor& g) {
                  const real factor = g.data()[0] / real(divisor);
                  Tensor gradient = uninitialized(x.shape());
                  parallel_for(n, elementwise_grain, [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i)
                      gradient.data()[i] = factor * slope(x.data()[i], targets.data()[i]);
                  });
                  x.add_gradient(std::move(gradient));
                });
}

}  // namespace

Var binary_cross_entropy(const Var& logits, const Tensor& targets) {
  // softplus(x) - t x without the cancellation for large x.
  const auto value = [](real x, real t) {
    return math::softplus(-std::abs(x)) + (x > 0 ? x * (1 - t) : -x * t);
  };
  const auto slope = [](real x, real t) { return math::sigmoid(x) - t; };
  return mean_loss("binary_cross_entropy", logits, targets, value, slope);
}

Var mean_squared_error(const Var& x, const Tensor& targets) {
  const auto value = [](real x, real t) { return (x - t) * (x - t); };
  const auto slope = [](real x, real t) { return 2 * (x - t); };
  return mean_loss("mean_squared_error", x, targets, value, slope);
}

Var mean_absolute_error(const Var& x, const Tensor& targets) {
  const auto value = [](real x, real t) { return std::abs(x - t); };
  const auto slope = [](real x, real t) { return real(int(x > t) - int(x < t)); };
  return mean_loss("mean_absolute_error", x, targets, value, slope);
}

Var huber(const Var& x, const Tensor& targets, real delta) {
  require(delta > 0, "huber", "delta must be positive: ", delta);
  const auto value = [delta](real x, real t) {
    const real size = std::abs(x - t);
    return size <= delta ? size * size / 2 : delta * (size - delta / 2);
  };
  const auto slope = [delta](real x, real t) { return std::clamp(x - t, -delta, delta); };
  return mean_loss("huber", x, targets, value, slope);
}

}  // namespace bochner::inline BOCHNER_PRECISION
