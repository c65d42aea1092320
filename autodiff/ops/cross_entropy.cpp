#include <bochner/autodiff/compute/log_sum_exp.hpp>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/autodiff/ops/rows_backward.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

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
  require(
      logits.rank() >= 1 && labels.shape == Shape(logits.shape().begin(), logits.shape().end() - 1),
      op, "labels must be (..) for logits (.., V): logits ", logits.shape(), ", labels ",
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

/// The mean loss; fills the statistics of the rows that count.
real forward(const Target& target, const real* logits, LogSumExp* totals) {
  const std::size_t V = target.classes;
  const double sum = parallel_sum<double>(
      target.labels.size(), row_grain(V), [&](std::size_t begin, std::size_t end) {
        double chunk = 0;
        for (std::size_t i = begin; i < end; ++i) {
          if (target.labels[i] == target.ignore) continue;
          const real* row = logits + i * V;
          totals[i] = log_sum_exp_row(row, V);
          chunk += row_loss(row, V, target.labels[i], target.smoothing, totals[i]);
        }
        return chunk;
      });
  return target.counted == 0 ? real(0) : real(sum / double(target.counted));
}

/// Gradient of the logits: factor times softmax minus target.
Tensor backward(const Target& target, const Tensor& logits, const LogSumExp* totals, real factor) {
  Tensor gradient = uninitialized(logits.shape());
  const std::size_t V = target.classes;
  const real on_all = target.smoothing / real(V), on_label = 1 - target.smoothing;
  parallel_for(target.labels.size(), row_grain(V), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const real* x = logits.data() + i * V;
      real* to = gradient.data() + i * V;
      if (target.labels[i] == target.ignore) {
        std::fill_n(to, V, real(0));
        continue;
      }
      const LogSumExp total = totals[i];
      for (std::size_t j = 0; j < V; ++j)
        to[j] = factor * (math::exp(total.log_softmax(x[j])) - on_all);
      to[target.labels[i]] -= factor * on_label;
    }
  });
  return gradient;
}

}  // namespace

Var cross_entropy(const Var& logits, const Indices& labels, real smoothing, std::int32_t ignore) {
  Target target = make_target(logits, labels, smoothing, ignore);
  std::vector<LogSumExp, PoolAllocator<LogSumExp>> totals(labels.values.size());
  const real loss = forward(target, logits.data(), totals.data());
  return record("cross_entropy", filled({}, loss), {logits},
                [logits, target = std::move(target), totals = std::move(totals)](Tensor& g) {
                  const real factor = g.data()[0] / real(std::max<std::size_t>(1, target.counted));
                  logits.add_gradient(backward(target, logits.value(), totals.data(), factor));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
