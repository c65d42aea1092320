#include <bochner/autodiff/ops/affine_gradients.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/gradient_sums.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/processor/prefetch.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns the mean of value(x, t), with derivative slope(x, t) by x, and slopes(x - t) on the
/// tape; 0 if empty.
template <class Value, class Slope, class Slopes>
Var mean_loss(const char* op, const Var& x, const Tensor& targets, const Value& value,
              const Slope& slope, const Slopes& slopes,
              TangentRule::Kind kind = TangentRule::likelihood) {
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
  return record(
      op, filled({}, real(sum / double(divisor))), {x},
      [x, targets, slope, n, divisor](Tensor& g) {
        const real factor = g.data()[0] / real(divisor);
        Tensor gradient = uninitialized(x.shape());
        parallel_each(n, elementwise_grain(n), [&](std::size_t i) {
          gradient.data()[i] = factor * slope(x.data()[i], targets.data()[i]);
        });
        x.add_gradient(std::move(gradient));
      },
      {{x, [&](const Var& d) { return bochner::sum(d * slopes(x - targets)) / double(divisor); },
        kind}});
}

/// Targets of the rows of logits.
struct Target {
  std::vector<std::int32_t> labels;
  real smoothing;
  std::int32_t ignore;
  std::size_t classes;
  std::size_t counted = 0;  ///< labels that are not ignored
  std::size_t divisor() const { return std::max<std::size_t>(1, counted); }
};

Target make_target(const char* op, const Shape& logits, const Indices& labels, real smoothing,
                   std::int32_t ignore) {
  require(!logits.empty() && labels.shape == without_last(logits), op,
          "labels must be (..) for logits (.., V): logits ", logits, ", labels ", labels.shape);
  require(labels.values.size() == element_count(labels.shape), op, "labels of shape ", labels.shape,
          " have ", labels.values.size(), " values");
  require(smoothing >= 0 && smoothing <= 1, op, "smoothing must be in [0, 1]: ", smoothing);
  Target target{labels.values, smoothing, ignore, logits.back()};
  for (std::size_t i = 0; i < target.labels.size(); ++i) {
    const std::int32_t label = target.labels[i];
    if (label == ignore) continue;
    require(label >= 0 && std::size_t(label) < target.classes, op, "label ", label, " at position ",
            i, " is not in [0, ", target.classes, ") and not ignore = ", ignore);
    ++target.counted;
  }
  return target;
}

/// Returns - sum over classes of target probability times log probability.
double row_loss(const real* x, std::size_t V, std::int32_t label, real smoothing,
                const LogSumExp& total) {
  const double on_label = total.log_softmax(x[label]);
  if (smoothing == 0) return -on_label;
  double on_all = 0;
  for (std::size_t j = 0; j < V; ++j) on_all += double(total.log_softmax(x[j]));
  return -((1 - double(smoothing)) * on_label + double(smoothing) / double(V) * on_all);
}

double loss_of_row(const Target& target, std::size_t i, const real* x) {
  if (target.labels[i] == target.ignore) return 0;
  return row_loss(x, target.classes, target.labels[i], target.smoothing,
                  log_sum_exp_row(x, target.classes));
}

/// Returns the loss and computes its gradient g, scaled for the mean: softmax minus target
/// probability. g may be x; `exponentials` is a scratch row. (V)
double loss_and_gradient(const Target& target, std::size_t i, const real* x, real* exponentials,
                         real* g) {
  const auto& [labels, smoothing, ignore, V, counted] = target;
  const std::int32_t label = labels[i];
  if (label == ignore) {
    std::fill_n(g, V, real(0));
    return 0;
  }
  const LogSumExp total = log_sum_exp_row(x, V, [=](std::size_t begin, std::size_t count) {
    prefetch(x + V + begin, count);  // next row
    return exponentials + begin;
  });
  const double loss = row_loss(x, V, label, smoothing, total);
  const real factor = 1 / real(target.divisor());
  const real scale = factor / total.sum, less = factor * (smoothing / real(V));
  for (std::size_t j = 0; j < V; ++j) g[j] = scale * exponentials[j] - less;
  g[label] -= factor * (1 - smoothing);
  return loss;
}

template <class LossOfRow>
real mean_of_rows(const Target& target, const LossOfRow& loss_of_row) {
  const std::size_t rows = target.labels.size();
  const double sum = parallel_sum<double>(rows, row_grain(rows, target.classes),
                                          [&](std::size_t begin, std::size_t end) {
                                            double chunk = 0;
                                            for (std::size_t i = begin; i < end; ++i)
                                              chunk += loss_of_row(i);
                                            return chunk;
                                          });
  return real(sum / double(target.divisor()));
}

/// Returns the tangent of cross_entropy() for that of the logits.
Var cross_entropy_tangent(const Var& d, const Var& logits, const Target& target) {
  const std::size_t V = target.classes;
  Tensor expected = uninitialized(logits.shape()), weights = zeros(with_last(logits.shape(), 1));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::fill_n(expected.data() + i * V, V, target.smoothing / real(V));
    if (target.labels[i] == target.ignore) continue;
    expected.data()[i * V + std::size_t(target.labels[i])] += 1 - target.smoothing;
    weights.data()[i] = 1 / real(target.divisor());
  }
  return sum(d * weights * (softmax(logits) - expected));
}

/// Logits x W + bias, one tile of rows at a time; the others are never stored.
class LogitTiles {
 public:
  LogitTiles(const Var& x, const Var& w, const Var& bias, Target&& target)
      : x_(x),
        w_(w),
        bias_(bias),
        target_(std::move(target)),
        a_(row_count(x.shape()), w.dim(0), w.dim(1), max_tile_rows(w.dim(1))),
        packed_(a_.rows, a_.E, a_.D, {w.data(), a_.E}),
        losses_(a_.rows) {}

  real loss() {
    const Scratch<real> scratch(a_.size * a_.E);
    parallel_for(a_.rows, a_.size, [&](std::size_t begin, std::size_t end) {
      for_each_block(packed_.block(), begin, end, a_.rows, [&](const RowBlock& block) {
        fill_losses(block.begin, block.count, scratch.local(),
                    [&](std::size_t i, real* logits) { return loss_of_row(target_, i, logits); });
      });
    });
    return mean();
  }

  /// Returns the loss and computes its gradients, that of x in dx unless nullptr.
  real loss(real* dx, AffineGradients& gradients) {
    const Scratch<real> scratch((a_.size + 1) * a_.E);
    const auto rows_of = [&](std::size_t) { return scratch.local() + a_.E; };
    const auto differentiate = [&](real* rows, std::size_t begin, std::size_t count) {
      fill_losses(begin, count, rows, [&](std::size_t i, real* logits) {
        return loss_and_gradient(target_, i, logits, scratch.local(), logits);
      });
    };
    gradients = affine_gradients(a_, x_, w_, 0, dx, rows_of, differentiate);
    return mean();
  }

 private:
  /// Limits a tile of logits to the second-level cache.
  static std::size_t max_tile_rows(std::size_t classes) {
    constexpr std::size_t held = 131072, strip = 32;
    return std::clamp<std::size_t>(held / classes / strip * strip, 64, 256);
  }
  template <class LossOfRow>
  void fill_losses(std::size_t begin, std::size_t count, real* logits,
                   const LossOfRow& loss_of_row) {
    packed_.multiply(count, x_.data() + begin * a_.D, a_.D, 0, logits, a_.E);
    for (std::size_t i = begin; i < begin + count; ++i, logits += a_.E) {
      add_to_rows(bias_.data(), logits, a_.E, 1, logits);
      losses_[i] = loss_of_row(i, logits);
    }
  }
  real mean() const {
    return mean_of_rows(target_, [&](std::size_t i) { return losses_[i]; });
  }

  Var x_, w_, bias_;
  Target target_;
  AffineTiles a_;
  PackedFactor packed_;
  std::vector<double> losses_;
};

}  // namespace

Var mean_squared_error(const Var& x, const Tensor& targets) {
  const auto value = [](real x, real t) { return (x - t) * (x - t); };
  const auto slope = [](real x, real t) { return 2 * (x - t); };
  return mean_loss("mean_squared_error", x, targets, value, slope,
                   [](const Var& error) { return 2 * error; });
}

Var mean_absolute_error(const Var& x, const Tensor& targets) {
  const auto value = [](real x, real t) { return std::abs(x - t); };
  const auto slope = [](real x, real t) { return real(int(x > t) - int(x < t)); };
  const auto slopes = [&](const Var& error) {
    return Var(map_each([](real e) { return real(int(e > 0) - int(e < 0)); }, error.value()));
  };
  return mean_loss("mean_absolute_error", x, targets, value, slope, slopes, TangentRule::general);
}

Var huber(const Var& x, const Tensor& targets, real delta) {
  require(delta > 0, "huber", "delta must be positive: ", delta);
  const auto value = [delta](real x, real t) {
    const real size = std::abs(x - t);
    return size <= delta ? size * size / 2 : delta * (size - delta / 2);
  };
  const auto slope = [delta](real x, real t) { return std::clamp(x - t, -delta, delta); };
  return mean_loss("huber", x, targets, value, slope,
                   [&](const Var& error) { return clamp(error, -delta, delta); });
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
  const auto slopes = [x, targets, p = std::move(p), n, Q, divisor](real g) {
    const real factor = g / real(divisor);
    Tensor gradient = uninitialized(x.shape());
    parallel_each(n * Q, elementwise_grain(n * Q), [&](std::size_t i) {
      const real t = targets.data()[i / Q], y = x.data()[i];
      const real slope = t > y ? -p[i % Q] : t < y ? 1 - p[i % Q] : real(0);
      gradient.data()[i] = factor * slope;
    });
    return gradient;
  };
  const auto tangent = [&](const Var& d) { return bochner::sum(d * slopes(1)); };
  return record("pinball", filled({}, real(sum / double(divisor))), {x},
                [x, slopes](Tensor& g) { x.add_gradient(slopes(g.data()[0])); }, {{x, tangent}});
}

Var cross_entropy(const Var& logits, const Indices& labels, real smoothing, std::int32_t ignore) {
  const Target target = make_target("cross_entropy", logits.shape(), labels, smoothing, ignore);
  const std::size_t V = target.classes;
  if (!logits.needs_gradient()) {
    const auto loss = [&](std::size_t i) { return loss_of_row(target, i, logits.data() + i * V); };
    return record("cross_entropy", filled({}, mean_of_rows(target, loss)), {logits},
                  [](Tensor&) {});
  }
  Tensor gradient = uninitialized(logits.shape());
  const Scratch<real> scratch(V);
  const real loss = mean_of_rows(target, [&](std::size_t i) {
    return loss_and_gradient(target, i, logits.data() + i * V, scratch.local(),
                             gradient.data() + i * V);
  });
  return record(
      "cross_entropy", filled({}, loss), {logits},
      [logits = logits.gradient_only(), gradient = std::move(gradient)](Tensor& g) mutable {
        scale_in_place(gradient.data(), gradient.size(), g.data()[0]);
        logits.add_gradient(std::move(gradient));
      },
      {{logits, [&](const Var& d) { return cross_entropy_tangent(d, logits, target); },
        TangentRule::likelihood}});
}

Var affine_cross_entropy(const Var& x, const Var& w, const Var& bias, const Indices& labels,
                         real smoothing, std::int32_t ignore) {
  const char* op = "affine_cross_entropy";
  require_factors(op, x, w, bias);
  const Shape logits = with_last(x.shape(), w.dim(1));
  if (row_count(x.shape()) < min_rows_for_blocks || w.size() == 0 || has_tangents(x, w, bias))
    return cross_entropy(affine(x, w, bias), labels, smoothing, ignore);
  LogitTiles tiles(x, w, bias, make_target(op, logits, labels, smoothing, ignore));
  const bool wanted = x.needs_gradient() || w.needs_gradient() || bias.needs_gradient();
  Tensor dx = x.needs_gradient() ? uninitialized(x.shape()) : Tensor();
  AffineGradients gradients;
  const real loss =
      wanted ? tiles.loss(x.needs_gradient() ? dx.data() : nullptr, gradients) : tiles.loss();
  return record(op, filled({}, loss), {x, w, bias},
                [x = x.gradient_only(), w = w.gradient_only(), bias = bias.gradient_only(),
                 dx = std::move(dx), gradients = std::move(gradients)](Tensor& g) mutable {
                  const auto flush_gradients = [&](const Var& to, Tensor& gradient) {
                    if (!to.needs_gradient()) return;
                    scale_in_place(gradient.data(), gradient.size(), g.data()[0]);
                    to.add_gradient(std::move(gradient));
                  };
                  flush_gradients(x, dx);
                  flush_gradients(w, gradients.w);
                  flush_gradients(bias, gradients.bias);
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
