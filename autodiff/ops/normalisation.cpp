#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/gradient_sums.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/row_norm.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/processor/prefetch.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

Tensor normalized(const Var& x, const RowNorm& norm, RowStatistics& statistics) {
  Tensor y = uninitialized(x.shape());
  const std::size_t D = x.dim(-1);
  parallel_rows(row_count(x.shape()), D, [&](std::size_t i) {
    normalize_row(norm, i, x.data() + i * D, statistics, y.data() + i * D);
  });
  return y;
}

/// Returns layer_norm() or rms_norm() as separate ops.
Var normalized_by_ops(const Var& x, const RowNorm& norm) {
  if (x.dim(-1) == 0) return x * norm.gain;  // rows of nothing have no mean
  const Var centred = norm.is_centred() ? x - mean(x, -1, keep) : x;
  const Var hat = centred * pow(mean(square(centred), -1, keep) + double(norm.epsilon), real(-0.5));
  return norm.is_centred() ? hat * norm.gain + norm.bias : hat * norm.gain;
}

/// Calls kernel(i, row) to turn row i of g, the output gradient, into that of x of the same shape;
/// rows are added to x's gradient while in cache, or g is moved there at the end.
template <class Kernel>
void rows_backward(const Var& x, Tensor& g, std::size_t grain, const Kernel& kernel) {
  const bool adding = x.has_gradient();
  real* sum = adding ? x.gradient_buffer().data() : nullptr;
  const std::size_t D = g.shape().back();
  Scratch<real> copies(D);
  parallel_each(row_count(g.shape()), grain, [&, rows = g.data()](std::size_t i) {
    prefetch_ahead(rows + i * D, D);
    if (!adding) return kernel(i, rows + i * D);
    prefetch_ahead(sum + i * D, D);
    real* row = copies.local();  // rows that are not written need not leave the caches
    std::copy_n(rows + i * D, D, row);
    kernel(i, row);
    for (std::size_t j = 0; j < D; ++j) sum[i * D + j] += row[j];
  });
  if (!adding) x.add_gradient(std::move(g));
}

/// Computes all gradients; fill_hat(i, hat) gives row i of xhat = (x - mean) * rstd.
template <class FillHat>
void backward(const Var& x, const RowNorm& norm, const RowStatistics& statistics,
              const FillHat& fill_hat, Tensor& g) {
  const std::size_t D = norm.gain.size(), rows = row_count(g.shape());
  const std::size_t grain =
      std::max<std::size_t>(8, row_grain(rows, D));  // bounds the partial sums
  const std::size_t chunks = ceil_div(rows, grain);
  Tensor gain_sums = zeros({chunks, D}), bias_sums = zeros({chunks, D});
  Scratch<real> scratch(2 * D);
  rows_backward(x, g, grain, [&](std::size_t i, real* row) {
    const std::size_t sums = i / grain * D;
    real* hat = scratch.local();
    fill_hat(i, hat);
    normalize_row_backward(norm, hat, statistics.rstd.data()[i], row, hat + D,
                           {gain_sums.data() + sums, bias_sums.data() + sums});
  });
  add_columns(norm.gain, gain_sums);
  add_columns(norm.bias, bias_sums);
}

/// Returns xhat computed from the input.
auto hat_of_input(const Var& x, const RowStatistics& statistics) {
  return [x = x.data(), &statistics, D = x.value().shape().back()](std::size_t i, real* hat) {
    standardize_row(D, i, x + i * D, statistics, hat);
  };
}

/// Returns whether xhat = (y - bias) / gain loses at most a few bits. Then the output, which the
/// next op keeps anyway, replaces the input.
bool output_determines_hat(const Var& gain, const Var& bias) {
  const real *gains = gain.data(), *biases = bias.data();
  std::size_t too_small = 0;
  for (std::size_t j = 0, D = gain.size(); j < D; ++j)
    too_small += std::abs(gains[j]) < (1 + std::abs(biases[j])) / 16;
  return too_small == 0;
}

Var record_layer_norm(const Var& x, const RowNorm& norm, RowStatistics statistics, Tensor y) {
  const auto& [gain, bias, epsilon] = norm;
  if (!output_determines_hat(gain, bias)) {
    return record("layer_norm", std::move(y), {x, gain, bias},
                  [=, statistics = std::move(statistics)](Tensor& g) {
                    backward(x, norm, statistics, hat_of_input(x, statistics), g);
                  });
  }
  return record("layer_norm", std::move(y), {x, gain, bias},
                [x = x.gradient_only(), norm, statistics = std::move(statistics)](const Tensor& y,
                                                                                  Tensor& g) {
                  const std::size_t D = norm.gain.size();
                  const real *gain = norm.gain.data(), *bias = norm.bias.data();
                  const auto hat_of_output = [&](std::size_t i, real* __restrict hat) {
                    const real* row = y.data() + i * D;
                    prefetch_ahead(row, D);
                    for (std::size_t j = 0; j < D; ++j) hat[j] = (row[j] - bias[j]) / gain[j];
                  };
                  backward(x, norm, statistics, hat_of_output, g);
                });
}

/// Applies forward_row(x row, D, y row) to all rows; backward_row(y row, D, g row) turns each row
/// of the output gradient into the input gradient. tangent(d, y) is that of y.
template <class Forward, class Backward, class Tangent>
Var map_rows(const char* op, const Var& x, const Forward& forward_row, const Backward& backward_row,
             const Tangent& tangent) {
  require(x.rank() >= 1, op, "needs one axis or more: x ", x.shape());
  Tensor y = uninitialized(x.shape());
  const std::size_t D = x.dim(-1);
  parallel_rows(row_count(x.shape()), D,
                [&](std::size_t i) { forward_row(x.data() + i * D, D, y.data() + i * D); });
  return record(op, std::move(y), {x},
                [x = x.gradient_only(), D, backward_row](const Tensor& y, Tensor& g) {
                  rows_backward(
                      x, g, row_grain(row_count(g.shape()), D),
                      [&](std::size_t i, real* row) { backward_row(y.data() + i * D, D, row); });
                },
                {{x, tangent}});
}

void softmax_row(const real* x, std::size_t D, real* y) {
  const real largest = max_of_numbers(x, D);  // sum is NaN if an element is
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

void normalize_row(const RowNorm& norm, std::size_t i, const real* __restrict x,
                   RowStatistics& statistics, real* __restrict y) {
  const std::size_t D = norm.gain.size();
  const real* __restrict gain = norm.gain.data();
  prefetch_ahead(x, D);
  const real mean = norm.is_centred() ? sum_row(x, D) / real(D) : real(0);
  const real rstd = 1 / std::sqrt(spread_row(x, D, mean) / real(D) + norm.epsilon);
  statistics.mean.data()[i] = mean;
  statistics.rstd.data()[i] = rstd;
  if (norm.is_centred()) {
    const real* __restrict bias = norm.bias.data();
    for (std::size_t j = 0; j < D; ++j) y[j] = (x[j] - mean) * rstd * gain[j] + bias[j];
  } else {
    for (std::size_t j = 0; j < D; ++j) y[j] = (x[j] - mean) * rstd * gain[j];
  }
}

void standardize_row(std::size_t D, std::size_t i, const real* __restrict x,
                     const RowStatistics& statistics, real* __restrict hat) {
  const real mean = statistics.mean.data()[i], rstd = statistics.rstd.data()[i];
  prefetch_ahead(x, D);
  for (std::size_t j = 0; j < D; ++j) hat[j] = (x[j] - mean) * rstd;
}

void normalize_row_backward(const RowNorm& norm, const real* __restrict hat, real rstd,
                            real* __restrict g, real* __restrict scaled, const RowNormSums& sums) {
  const std::size_t D = norm.gain.size();
  const real* __restrict gain = norm.gain.data();
  real* __restrict gain_sum = sums.gain, * __restrict bias_sum = sums.bias;
  for (std::size_t j = 0; j < D; ++j) {
    scaled[j] = g[j] * gain[j];
    gain_sum[j] += g[j] * hat[j];
    bias_sum[j] += g[j];
  }
  const real along = dot_row(scaled, hat, D) / real(D);
  const real level = norm.is_centred() ? sum_row(scaled, D) / real(D) : real(0);
  for (std::size_t j = 0; j < D; ++j) g[j] = rstd * (scaled[j] - level - hat[j] * along);
}

void NormalizedRows::compute(std::size_t begin, std::size_t count, real* to) {
  for (std::size_t i = begin; i < begin + count; ++i, to += D_)
    normalize_row(norm_, i, input(i), statistics_, to);
}

void NormalizedRows::recompute(std::size_t begin, std::size_t count, real* __restrict to) const {
  const real* __restrict gain = norm_.gain.data();
  const real* __restrict bias = norm_.is_centred() ? norm_.bias.data() : nullptr;
  for (std::size_t i = begin; i < begin + count; ++i, to += D_) {
    standardize_row(D_, i, input(i), statistics_, to);
    for (std::size_t j = 0; j < D_; ++j) to[j] *= gain[j];
    for (std::size_t j = 0; bias && j < D_; ++j) to[j] += bias[j];
  }
}

void NormalizedRows::backward(std::size_t begin, std::size_t count, real* __restrict gradient,
                              real* scratch, bool adds, real* __restrict to,
                              const RowNormSums& sums) const {
  for (std::size_t i = begin; i < begin + count; ++i, gradient += D_, to += D_) {
    standardize_row(D_, i, input(i), statistics_, scratch);
    normalize_row_backward(norm_, scratch, statistics_.rstd.data()[i], gradient, scratch + D_,
                           sums);
    for (std::size_t j = 0; j < D_; ++j) to[j] = adds ? to[j] + gradient[j] : gradient[j];
  }
}

void NormalizedRows::flush_gradients(const Tensor& gain_sums, const Tensor& bias_sums) const {
  norm_.gain.add_gradient(sum_to_shape(gain_sums, {D_}));
  if (norm_.is_centred()) norm_.bias.add_gradient(sum_to_shape(bias_sums, {D_}));
}

Var layer_norm(const Var& x, const Var& gain, const Var& bias, real epsilon) {
  const RowNorm norm{gain, bias, epsilon};
  norm.require_width("layer_norm", x);
  if (has_tangents(x, gain, bias)) return normalized_by_ops(x, norm);
  RowStatistics statistics(row_count(x.shape()));
  Tensor y = normalized(x, norm, statistics);
  return record_layer_norm(x, norm, std::move(statistics), std::move(y));
}

Var rms_norm(const Var& x, const Var& gain, real epsilon) {
  const RowNorm norm{gain, Var(), epsilon};
  norm.require_width("rms_norm", x);
  if (has_tangents(x, gain)) return normalized_by_ops(x, norm);
  RowStatistics statistics(row_count(x.shape()));
  Tensor y = normalized(x, norm, statistics);
  return record("rms_norm", std::move(y), {x, gain},
                [x, norm, statistics = std::move(statistics)](Tensor& g) {
                  backward(x, norm, statistics, hat_of_input(x, statistics), g);
                });
}

void RowNorm::require_width(const char* op, const Var& x) const {
  const bool fits = x.rank() >= 1 && gain.shape() == Shape{x.dim(-1)};
  if (is_centred()) {
    require(fits && bias.shape() == gain.shape(), op, "gain and bias must be (D) for x (.., D): x ",
            x.shape(), ", gain ", gain.shape(), ", bias ", bias.shape());
  }
  require(fits, op, "gain must be (D) for x (.., D): x ", x.shape(), ", gain ", gain.shape());
}

Var RowNorm::apply(const Var& x) const {
  return is_centred() ? layer_norm(x, gain, bias, epsilon) : rms_norm(x, gain, epsilon);
}

Var softmax(const Var& x) {
  return map_rows("softmax", x, softmax_row, softmax_backward_row,
                  [](const Var& d, const Var& y) { return y * (d - sum(d * y, -1, keep)); });
}

Var log_softmax(const Var& x) {
  return map_rows("log_softmax", x, log_softmax_row, log_softmax_backward_row,
                  [](const Var& d, const Var& y) { return d - sum(d * exp(y), -1, keep); });
}

}  // namespace bochner::inline BOCHNER_PRECISION
