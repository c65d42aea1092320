#include <bochner/autodiff/compute/reduce.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/rows.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Per row what turns x into (x - mean) * rstd; rms_norm has means of zero.
struct RowStatistics {
  bool centred;
  Tensor mean, rstd;
};

std::size_t row_count(const Tensor& x) {
  const std::size_t D = x.shape().back();
  return D == 0 ? 0 : x.size() / D;
}

RowStatistics row_statistics(const Tensor& x, bool centred, real epsilon) {
  const std::size_t D = x.shape().back(), rows = row_count(x);
  RowStatistics statistics{centred, zeros({rows}), uninitialized({rows})};
  Scratch<real> scratch(D);
  parallel_for(rows, row_grain(D), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const real* row = x.data() + i * D;
      if (centred) {
        const real mean = statistics.mean.data()[i] = sum_row(row, D) / real(D);
        real* deviation = scratch.local();
        for (std::size_t j = 0; j < D; ++j) deviation[j] = row[j] - mean;
        row = deviation;
      }
      statistics.rstd.data()[i] = 1 / std::sqrt(dot_row(row, row, D) / real(D) + epsilon);
    }
  });
  return statistics;
}

/// y = (x - mean) * rstd * gain + bias; no bias for nullptr.
Tensor normalized(const Tensor& x, const RowStatistics& statistics, const real* gain,
                  const real* bias) {
  Tensor y = uninitialized(x.shape());
  const std::size_t D = x.shape().back();
  parallel_for(row_count(x), row_grain(D), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const real mean = statistics.mean.data()[i], rstd = statistics.rstd.data()[i];
      const real* from = x.data() + i * D;
      real* to = y.data() + i * D;
      for (std::size_t j = 0; j < D; ++j) to[j] = (from[j] - mean) * rstd * gain[j];
      if (!bias) continue;
      for (std::size_t j = 0; j < D; ++j) to[j] += bias[j];
    }
  });
  return y;
}

/// One row of the backward pass: g becomes the gradient of x, and g and g * xhat are added to the
/// sums of bias and gain. `hat` and `scaled` are scratch rows.
void backward_row(const real* x, const real* gain, real mean, real rstd, bool centred,
                  std::size_t D, real* __restrict g, real* __restrict hat, real* __restrict scaled,
                  real* __restrict gain_sum, real* __restrict bias_sum) {
  for (std::size_t j = 0; j < D; ++j) {
    hat[j] = (x[j] - mean) * rstd;
    scaled[j] = g[j] * gain[j];
    gain_sum[j] += g[j] * hat[j];
    bias_sum[j] += g[j];
  }
  const real along = dot_row(scaled, hat, D) / real(D);
  const real level = centred ? sum_row(scaled, D) / real(D) : real(0);
  for (std::size_t j = 0; j < D; ++j) g[j] = rstd * (scaled[j] - level - hat[j] * along);
}

void backward(const Var& x, const Var& gain, const Var& bias, const RowStatistics& statistics,
              Tensor& g) {
  const std::size_t D = gain.size(), rows = row_count(g);
  const std::size_t grain = std::max<std::size_t>(8, row_grain(D));  // bounds the partial sums
  const std::size_t chunks = (rows + grain - 1) / grain;
  Tensor gain_sums = zeros({chunks, D}), bias_sums = zeros({chunks, D});
  Scratch<real> scratch(2 * D);
  const real* mean = statistics.mean.data();
  const real* rstd = statistics.rstd.data();
  real* gradient = g.data();
  rows_backward(x, g, D, grain, [&](std::size_t begin, std::size_t end) {
    const std::size_t sums = begin / grain * D;
    for (std::size_t i = begin; i < end; ++i) {
      backward_row(x.data() + i * D, gain.data(), mean[i], rstd[i], statistics.centred, D,
                   gradient + i * D, scratch.local(), scratch.local() + D, gain_sums.data() + sums,
                   bias_sums.data() + sums);
    }
  });
  if (gain.needs_gradient())
    accumulate_columns(gain_sums.data(), chunks, D, gain.gradient_buffer().data());
  if (bias.needs_gradient())
    accumulate_columns(bias_sums.data(), chunks, D, bias.gradient_buffer().data());
}

}  // namespace

Var layer_norm(const Var& x, const Var& gain, const Var& bias, real epsilon) {
  require(x.rank() >= 1 && gain.shape() == Shape{x.dim(-1)} && bias.shape() == gain.shape(),
          "layer_norm", "gain and bias must be (D) for x (.., D): x ", x.shape(), ", gain ",
          gain.shape(), ", bias ", bias.shape());
  RowStatistics statistics = row_statistics(x.value(), true, epsilon);
  Tensor y = normalized(x.value(), statistics, gain.data(), bias.data());
  return record("layer_norm", std::move(y), {x, gain, bias},
                [x, gain, bias = bias.gradient_only(), statistics = std::move(statistics)](
                    Tensor& g) { backward(x, gain, bias, statistics, g); });
}

Var rms_norm(const Var& x, const Var& gain, real epsilon) {
  require(x.rank() >= 1 && gain.shape() == Shape{x.dim(-1)}, "rms_norm",
          "gain must be (D) for x (.., D): x ", x.shape(), ", gain ", gain.shape());
  RowStatistics statistics = row_statistics(x.value(), false, epsilon);
  Tensor y = normalized(x.value(), statistics, gain.data(), nullptr);
  return record("rms_norm", std::move(y), {x, gain},
                [x, gain, statistics = std::move(statistics)](Tensor& g) {
                  backward(x, gain, Var(), statistics, g);
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
