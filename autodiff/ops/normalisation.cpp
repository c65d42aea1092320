#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Per row what turns x into (x - mean) * rstd; rms_norm has means of zero.
struct RowStatistics {
  bool centred;
  Storage mean, rstd;
  RowStatistics(bool is_centred, std::size_t rows) : centred(is_centred), mean(rows), rstd(rows) {}
};

/// y = (x - mean) * rstd * gain + bias; no bias for nullptr.
Tensor normalized(const Tensor& x, const real* gain, const real* bias, real epsilon,
                  RowStatistics& statistics) {
  Tensor y = uninitialized(x.shape());
  const std::size_t D = x.shape().back();
  parallel_rows(row_count(x.shape()), D, [&](std::size_t i) {
    const real* __restrict from = x.data() + i * D;
    real* __restrict to = y.data() + i * D;
    const real mean = statistics.centred ? sum_row(from, D) / real(D) : real(0);
    const real rstd = 1 / std::sqrt(spread_row(from, D, mean) / real(D) + epsilon);
    statistics.mean.data()[i] = mean;
    statistics.rstd.data()[i] = rstd;
    if (bias) {
      for (std::size_t j = 0; j < D; ++j) to[j] = (from[j] - mean) * rstd * gain[j] + bias[j];
    } else {
      for (std::size_t j = 0; j < D; ++j) to[j] = (from[j] - mean) * rstd * gain[j];
    }
  });
  return y;
}

/// kernel(i, row) turns row i of g, the gradient of an op's output, into the gradient of its input
/// x of the same shape; rows are added to x's while in cache, or moved there in the end.
template <class Kernel>
void rows_backward(const Var& x, Tensor& g, std::size_t grain, const Kernel& kernel) {
  const bool adding = x.has_gradient();
  real* sum = adding ? x.gradient_buffer().data() : nullptr;
  const std::size_t D = g.shape().back();
  Scratch<real> copies(D);
  parallel_each(row_count(g.shape()), grain, [&, rows = g.data()](std::size_t i) {
    if (!adding) return kernel(i, rows + i * D);
    real* row = copies.local();  // what is not written need not leave the caches
    std::copy_n(rows + i * D, D, row);
    kernel(i, row);
    for (std::size_t j = 0; j < D; ++j) sum[i * D + j] += row[j];
  });
  if (!adding) x.add_gradient(std::move(g));
}

/// One row of the backward pass: g becomes the gradient of x, and g and g * xhat are added to the
/// sums of bias and gain. `scaled` is a scratch row.
void backward_row(const real* hat, const real* gain, real rstd, bool centred, std::size_t D,
                  real* __restrict g, real* __restrict scaled, real* __restrict gain_sum,
                  real* __restrict bias_sum) {
  for (std::size_t j = 0; j < D; ++j) {
    scaled[j] = g[j] * gain[j];
    gain_sum[j] += g[j] * hat[j];
    bias_sum[j] += g[j];
  }
  const real along = dot_row(scaled, hat, D) / real(D);
  const real level = centred ? sum_row(scaled, D) / real(D) : real(0);
  for (std::size_t j = 0; j < D; ++j) g[j] = rstd * (scaled[j] - level - hat[j] * along);
}

/// fill_hat(i, hat) gives row i of xhat = (x - mean) * rstd.
template <class FillHat>
void backward(const Var& x, const Var& gain, const Var& bias, const RowStatistics& statistics,
              const FillHat& fill_hat, Tensor& g) {
  const std::size_t D = gain.size(), rows = row_count(g.shape());
  const std::size_t grain =
      std::max<std::size_t>(8, row_grain(rows, D));  // bounds the partial sums
  const std::size_t chunks = (rows + grain - 1) / grain;
  Tensor gain_sums = zeros({chunks, D}), bias_sums = zeros({chunks, D});
  Scratch<real> scratch(2 * D);
  rows_backward(x, g, grain, [&](std::size_t i, real* row) {
    const std::size_t sums = i / grain * D;
    real* hat = scratch.local();
    fill_hat(i, hat);
    backward_row(hat, gain.data(), statistics.rstd.data()[i], statistics.centred, D, row, hat + D,
                 gain_sums.data() + sums, bias_sums.data() + sums);
  });
  if (gain.needs_gradient())
    accumulate_columns(gain_sums.data(), chunks, D, gain.gradient_buffer().data());
  if (bias.needs_gradient())
    accumulate_columns(bias_sums.data(), chunks, D, bias.gradient_buffer().data());
}

/// xhat from the input.
auto hat_of_input(const Var& x, const RowStatistics& statistics) {
  return [x = x.data(), mean = statistics.mean.data(), rstd = statistics.rstd.data(),
          D = x.value().shape().back()](std::size_t i, real* __restrict hat) {
    const real* row = x + i * D;
    for (std::size_t j = 0; j < D; ++j) hat[j] = (row[j] - mean[i]) * rstd[i];
  };
}

/// Whether xhat = (y - bias) / gain loses no more than a few bits. Then the input need not be kept,
/// and the output is there anyway: the next op has it.
bool output_tells_hat(const Var& gain, const Var& bias) {
  for (std::size_t j = 0; j < gain.size(); ++j) {
    if (std::abs(gain.data()[j]) < (1 + std::abs(bias.data()[j])) / 16) return false;
  }
  return true;
}

Var record_layer_norm(const Var& x, const Var& gain, const Var& bias, RowStatistics statistics,
                      Tensor y) {
  if (!output_tells_hat(gain, bias)) {
    return record("layer_norm", std::move(y), {x, gain, bias},
                  [=, statistics = std::move(statistics)](Tensor& g) {
                    backward(x, gain, bias, statistics, hat_of_input(x, statistics), g);
                  });
  }
  return record("layer_norm", std::move(y), {x, gain, bias},
                [x = x.gradient_only(), gain, bias, statistics = std::move(statistics)](
                    const Tensor& y, Tensor& g) {
                  const std::size_t D = gain.size();
                  const auto hat_of_output = [&](std::size_t i, real* __restrict hat) {
                    const real* row = y.data() + i * D;
                    for (std::size_t j = 0; j < D; ++j)
                      hat[j] = (row[j] - bias.data()[j]) / gain.data()[j];
                  };
                  backward(x, gain, bias, statistics, hat_of_output, g);
                });
}

/// forward_row(x row, D, y row) of all rows; backward_row(y row, D, g row) turns each row of the
/// output's gradient into that of the input.
template <class Forward, class Backward>
Var map_rows(const char* op, const Var& x, const Forward& forward_row,
             const Backward& backward_row) {
  require(x.rank() >= 1, op, "needs one axis or more: x ", x.shape());
  Tensor y = uninitialized(x.shape());
  const std::size_t D = x.dim(-1);
  parallel_rows(row_count(x.shape()), D,
                [&](std::size_t i) { forward_row(x.data() + i * D, D, y.data() + i * D); });
  return record(
      op, std::move(y), {x}, [x = x.gradient_only(), D, backward_row](const Tensor& y, Tensor& g) {
        rows_backward(x, g, row_grain(row_count(g.shape()), D),
                      [&](std::size_t i, real* row) { backward_row(y.data() + i * D, D, row); });
      });
}

void softmax_row(const real* x, std::size_t D, real* y) {
  const real largest = max_of_numbers(x, D);  // a NaN is in the sum
  for (std::size_t j = 0; j < D; ++j) y[j] = exponential_below(x[j], largest);
  const real factor = 1 / sum_row(y, D);
  for (std::size_t j = 0; j < D; ++j) y[j] *= factor;
}

void log_softmax_row(const real* x, std::size_t D, real* y) {
  const LogSumExp total = log_sum_exp_row(x, D);
  for (std::size_t j = 0; j < D; ++j) y[j] = total.log_softmax(x[j]);
}

void softmax_backward_row(const real* y, std::size_t D, real* g) {
  const real mean = dot_row(y, g, D);
  for (std::size_t j = 0; j < D; ++j) g[j] = y[j] * (g[j] - mean);
}

void log_softmax_backward_row(const real* y, std::size_t D, real* g) {
  const real sum = sum_row(g, D);
  for (std::size_t j = 0; j < D; ++j) g[j] -= math::exp(y[j]) * sum;
}

}  // namespace

Var layer_norm(const Var& x, const Var& gain, const Var& bias, real epsilon) {
  require(x.rank() >= 1 && gain.shape() == Shape{x.dim(-1)} && bias.shape() == gain.shape(),
          "layer_norm", "gain and bias must be (D) for x (.., D): x ", x.shape(), ", gain ",
          gain.shape(), ", bias ", bias.shape());
  RowStatistics statistics(true, row_count(x.shape()));
  Tensor y = normalized(x.value(), gain.data(), bias.data(), epsilon, statistics);
  return record_layer_norm(x, gain, bias, std::move(statistics), std::move(y));
}

Var rms_norm(const Var& x, const Var& gain, real epsilon) {
  require(x.rank() >= 1 && gain.shape() == Shape{x.dim(-1)}, "rms_norm",
          "gain must be (D) for x (.., D): x ", x.shape(), ", gain ", gain.shape());
  RowStatistics statistics(false, row_count(x.shape()));
  Tensor y = normalized(x.value(), gain.data(), nullptr, epsilon, statistics);
  return record("rms_norm", std::move(y), {x, gain},
                [x, gain, statistics = std::move(statistics)](Tensor& g) {
                  backward(x, gain, Var(), statistics, hat_of_input(x, statistics), g);
                });
}

Var softmax(const Var& x) { return map_rows("softmax", x, softmax_row, softmax_backward_row); }

Var log_softmax(const Var& x) {
  return map_rows("log_softmax", x, log_softmax_row, log_softmax_backward_row);
}

}  // namespace bochner::inline BOCHNER_PRECISION
