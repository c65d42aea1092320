#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/compute/scaling.hpp>
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

/// What each row of logits is compared with.
struct Target {
  std::vector<std::int32_t> labels;
  real smoothing;
  std::int32_t ignore;
  std::size_t classes;
  std::size_t counted = 0;  ///< labels that are not ignored
};

Target make_target(const Var& logits, const Indices& labels, real smoothing, std::int32_t ignore) {
  const char* op = "cross_entropy";
  require(logits.rank() >= 1 && labels.shape == without_last(logits.shape()), op,
          "labels must be (..) for logits (.., V): logits ", logits.shape(), ", labels ",
          labels.shape);
  require(labels.values.size() == element_count(labels.shape), op, "labels of shape ", labels.shape,
          " have ", labels.values.size(), " values");
  require(smoothing >= 0 && smoothing <= 1, op, "smoothing must be in [0, 1]: ", smoothing);
  Target target{labels.values, smoothing, ignore, logits.dim(-1)};
  for (std::size_t i = 0; i < target.labels.size(); ++i) {
    const std::int32_t label = target.labels[i];
    if (label == ignore) continue;
    require(label >= 0 && std::size_t(label) < target.classes, op, "label ", label, " at position ",
            i, " is not in [0, ", target.classes, ") and not ignore = ", ignore);
    ++target.counted;
  }
  return target;
}

/// - sum over classes of target probability times log probability.
double row_loss(const real* x, std::size_t V, std::int32_t label, real smoothing,
                const LogSumExp& total) {
  const double on_label = total.log_softmax(x[label]);
  if (smoothing == 0) return -on_label;
  double on_all = 0;
  for (std::size_t j = 0; j < V; ++j) on_all += double(total.log_softmax(x[j]));
  return -((1 - double(smoothing)) * on_label + double(smoothing) / double(V) * on_all);
}

/// From exponentials in place: factor times softmax minus target probability.
void gradient_row(real* x, std::size_t V, std::int32_t label, real smoothing, real sum,
                  real factor) {
  const real scale = factor / sum, less = factor * (smoothing / real(V));
  for (std::size_t j = 0; j < V; ++j) x[j] = scale * x[j] - less;
  x[label] -= factor * (1 - smoothing);
}

/// The mean loss, and, where it is wanted, its gradient, while a row's exponentials are at hand.
real loss_and_gradient(const Target& target, const real* logits, real* gradient) {
  const std::size_t V = target.classes, rows = target.labels.size();
  const std::size_t counted = std::max<std::size_t>(1, target.counted);
  const auto loss_of_row = [&](std::size_t i) {
    const real *x = logits + i * V, *next = x + V;
    const std::int32_t label = target.labels[i];
    if (!gradient) return row_loss(x, V, label, target.smoothing, log_sum_exp_row(x, V));
    real* g = gradient + i * V;
    const LogSumExp total = log_sum_exp_row(x, V, g, next);
    gradient_row(g, V, label, target.smoothing, total.sum, 1 / real(counted));
    return row_loss(x, V, label, target.smoothing, total);
  };
  const double sum =
      parallel_sum<double>(rows, row_grain(rows, V), [&](std::size_t begin, std::size_t end) {
        double chunk = 0;
        for (std::size_t i = begin; i < end; ++i) {
          if (target.labels[i] != target.ignore) {
            chunk += loss_of_row(i);
          } else if (gradient) {
            std::fill_n(gradient + i * V, V, real(0));
          }
        }
        return chunk;
      });
  return real(sum / double(counted));
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

Var cross_entropy(const Var& logits, const Indices& labels, real smoothing, std::int32_t ignore) {
  const Target target = make_target(logits, labels, smoothing, ignore);
  const bool wanted = logits.needs_gradient();
  Tensor gradient = wanted ? uninitialized(logits.shape()) : Tensor();
  const real loss = loss_and_gradient(target, logits.data(), wanted ? gradient.data() : nullptr);
  return record(
      "cross_entropy", filled({}, loss), {logits},
      [logits = logits.gradient_only(), gradient = std::move(gradient)](Tensor& g) mutable {
        scale_in_place(gradient.data(), gradient.size(), g.data()[0]);
        logits.add_gradient(std::move(gradient));
      });
}

}  // namespace bochner::inline BOCHNER_PRECISION
