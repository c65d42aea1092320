#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns the mean of value(x, t), with derivative slope(x, t) by x; 0 if empty.
template <class Value, class Slope>
Var mean_loss(const char* op, const Var& x, const Tensor& targets, const Value& value,
              const Slope& slope) {
  require(x.shape() == targets.shape(), op, "shapes differ: x ", x.shape(), ", targets ",
          targets.shape());
  const std::size_t n = x.size(), divisor = std::max<std::size_t>(1, n);
  const double sum =
      parallel_sum<double>(n, elementwise_grain(n), [&](std::size_t begin, std::size_t end) {
        double chunk = 0;
        for (std::size_t i = begin; i < end; ++i)
          chunk += double(value(x.data()[i], targets.data()[i]));
        return chunk;
      });
  return record(op, filled({}, real(sum / double(divisor))), {x},
                [x, targets, slope, n, divisor](Tensor& g) {
                  const real factor = g.data()[0] / real(divisor);
                  Tensor gradient = uninitialized(x.shape());
                  parallel_each(n, elementwise_grain(n), [&](std::size_t i) {
                    gradient.data()[i] = factor * slope(x.data()[i], targets.data()[i]);
                  });
                  x.add_gradient(std::move(gradient));
                });
}

}  // namespace

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

Var pinball(const Var& x, const Tensor& targets, const std::vector<double>& levels) {
  const std::size_t n = targets.size(), Q = levels.size();
  require(x.rank() >= 1 && Q >= 1 && x.dim(-1) == Q && without_last(x.shape()) == targets.shape(),
          "pinball", "x must be (.., ", Q, ") for targets (..): x ", x.shape(), ", targets ",
          targets.shape());
  std::vector<real> p;
  for (const double level : levels) {
    require(level > 0 && level < 1, "pinball", "levels must be between 0 and 1: ", level);
    p.push_back(real(level));
  }
  const double sum =
      parallel_sum<double>(n, row_grain(n, Q), [&](std::size_t begin, std::size_t end) {
        double chunk = 0;
        for (std::size_t i = begin * Q; i < end * Q; ++i) {
          const real error = targets.data()[i / Q] - x.data()[i];
          chunk += double(std::max(p[i % Q] * error, (p[i % Q] - 1) * error));
        }
        return chunk;
      });
  const std::size_t divisor = std::max<std::size_t>(1, n * Q);
  return record("pinball", filled({}, real(sum / double(divisor))), {x},
                [x, targets, p = std::move(p), n, Q, divisor](Tensor& g) {
                  const real factor = g.data()[0] / real(divisor);
                  Tensor gradient = uninitialized(x.shape());
                  parallel_each(n * Q, elementwise_grain(n * Q), [&](std::size_t i) {
                    const real t = targets.data()[i / Q], y = x.data()[i];
                    const real slope = t > y ? -p[i % Q] : t < y ? 1 - p[i % Q] : real(0);
                    gradient.data()[i] = factor * slope;
                  });
                  x.add_gradient(std::move(gradient));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
