#include <bochner/autodiff/ops/ridge_left_out.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns (x x^T + 100 1 1^T + I)^-1. (n, n)
std::vector<double> inverse_of(const Tensor& x) {
  constexpr double of_intercept = 100;
  const std::size_t n = x.shape()[0], d = x.shape()[1];
  std::vector<double> columns(d * n), a(n * n, of_intercept);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) columns[j * n + i] = double(x.data()[i * d + j]);
    a[i * n + i] += 1;
  }
  accumulate_gram(d, n, columns.data(), a.data());
  cholesky(n, a.data());
  invert_from_factor(n, a.data());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) a[j * n + i] = a[i * n + j];
  return a;
}

/// Returns the gradient of x x^T from that of the predictions. `a` is the inverse,
/// `ay` its product with the targets. (n, n)
std::vector<double> gradient_of_gram(const std::vector<double>& a, const std::vector<double>& ay,
                                     const Tensor& targets, const Tensor& g) {
  const std::size_t n = g.shape()[0], K = g.shape()[1];
  std::vector<double> of_inverse(n * n), middle(n * n), result(n * n);
  parallel_rows(n, n * K, [&](std::size_t i) {
    const double each = a[i * n + i];
    for (std::size_t k = 0; k < K; ++k) {
      const double gradient = -double(g.data()[i * K + k]) / each;
      for (std::size_t j = 0; j < n; ++j)
        of_inverse[i * n + j] += gradient * double(targets.data()[j * K + k]);
      of_inverse[i * n + i] -= gradient * ay[i * K + k] / each;
    }
  });
  bochner::multiply(n, n, n, of_inverse.data(), false, a.data(), 0, middle.data());
  bochner::multiply(n, n, n, a.data(), false, middle.data(), 0, result.data());
  return result;
}

}  // namespace

Var ridge_left_out(const Var& x, const Tensor& targets) {
  require(x.rank() == 2 && targets.shape().size() == 2 && targets.shape()[0] == x.dim(0) &&
              x.dim(0) > 1,
          "ridge_left_out", "needs rows (n > 1, d) with targets (n, K): x ", x.shape(),
          ", targets ", targets.shape());
  const std::size_t n = x.dim(0), K = targets.shape()[1];
  std::vector<double> a = inverse_of(x.value()), ay(n * K);
  const std::vector<double> y(targets.data(), targets.data() + targets.size());
  bochner::multiply(n, K, n, a.data(), false, y.data(), 0, ay.data());
  Tensor predictions = uninitialized(targets.shape());
  for (std::size_t i = 0; i < n * K; ++i)
    predictions.data()[i] = real(y[i] - ay[i] / a[i / K * n + i / K]);
  return record("ridge_left_out", std::move(predictions), {x},
                [x, targets, a = std::move(a), ay = std::move(ay)](Tensor& g) {
                  const std::size_t n = x.dim(0), d = x.dim(1);
                  std::vector<double> gram = gradient_of_gram(a, ay, targets, g), both(n * n),
                                      values(x.data(), x.data() + n * d), product(n * d);
                  for (std::size_t i = 0; i < n; ++i)
                    for (std::size_t j = 0; j < n; ++j)
                      both[i * n + j] = -(gram[i * n + j] + gram[j * n + i]);
                  bochner::multiply(n, d, n, both.data(), false, values.data(), 0, product.data());
                  Tensor gradient = uninitialized(x.shape());
                  for (std::size_t i = 0; i < n * d; ++i) gradient.data()[i] = real(product[i]);
                  x.add_gradient(std::move(gradient));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
