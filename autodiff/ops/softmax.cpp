#include <bochner/autodiff/compute/log_sum_exp.hpp>
#include <bochner/autodiff/ops/normalisation.hpp>
#include <bochner/autodiff/ops/rows_backward.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// y = kernel(x row, D, y row) for all rows.
template <class Kernel>
Tensor map_rows(const char* op, const Var& x, const Kernel& kernel) {
  require(x.rank() >= 1, op, "needs one axis or more: x ", x.shape());
  Tensor y = uninitialized(x.shape());
  const std::size_t D = x.dim(-1), rows = D == 0 ? 0 : x.size() / D;
  parallel_for(rows, row_grain(D), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) kernel(x.data() + i * D, D, y.data() + i * D);
  });
  return y;
}

void softmax_row(const real* x, std::size_t D, real* y) {
  const real largest = max_row(x, D);
  for (std::size_t j = 0; j < D; ++j) y[j] = math::exp(x[j] - largest);
  const real factor = 1 / sum_row(y, D);
  for (std::size_t j = 0; j < D; ++j) y[j] *= factor;
}

void log_softmax_row(const real* x, std::size_t D, real* y) {
  const LogSumExp total = log_sum_exp_row(x, D);
  for (std::size_t j = 0; j < D; ++j) y[j] = total.log_softmax(x[j]);
}

/// kernel(y row, D, g row) turns each row of the output's gradient into that of the input.
template <class Kernel>
void map_rows_backward(const Var& x, const Tensor& y, Tensor& g, const Kernel& kernel) {
  const std::size_t D = y.shape().back();
  real* gradient = g.data();
  rows_backward(x, g, D, row_grain(D), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) kernel(y.data() + i * D, D, gradient + i * D);
  });
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

Var softmax(const Var& x) {
  return record("softmax", map_rows("softmax", x, softmax_row), {x},
                [x = x.gradient_only()](const Tensor& y, Tensor& g) {
                  map_rows_backward(x, y, g, softmax_backward_row);
                });
}

Var log_softmax(const Var& x) {
  return record("log_softmax", map_rows("log_softmax", x, log_softmax_row), {x},
                [x = x.gradient_only()](const Tensor& y, Tensor& g) {
                  map_rows_backward(x, y, g, log_softmax_backward_row);
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
