#include <algorithm>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/ridge_path.hpp>
#include <bochner/base/numeric/symmetric_eigen.hpp>
#include <cmath>

namespace bochner {
namespace {

std::vector<double> transposed(std::size_t rows, std::size_t columns, const double* a) {
  std::vector<double> result(rows * columns);
  parallel_rows(columns, rows, [&](std::size_t j) {
    for (std::size_t i = 0; i < rows; ++i) result[j * rows + i] = a[i * columns + j];
  });
  return result;
}

}  // namespace

std::vector<double> remove_means(std::vector<double>& matrix, std::size_t d) {
  std::vector<double> means(d);
  const std::size_t n = matrix.size() / d;
  for (std::size_t i = 0; i < matrix.size(); ++i) means[i % d] += matrix[i] / double(n);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] -= means[i % d];
  return means;
}

RidgePath::RidgePath(std::size_t n, std::size_t L, std::size_t H, std::span<const double> inputs,
                     std::vector<double> outputs, double most_leverage)
    : n_(n),
      L_(L),
      H_(H),
      inputs_(inputs),
      outputs_(std::move(outputs)),
      most_leverage_(most_leverage) {
  n < L ? decompose_rows() : decompose_columns();
  products_.resize(size() * H);
  multiply(size(), H, n_, projected_.data(), true, outputs_.data(), 0, products_.data());
}

void RidgePath::decompose_columns() {
  vectors_.resize(L_ * L_);
  accumulate_gram(n_, L_, inputs_.data(), vectors_.data());
  values_ = symmetric_eigen(L_, vectors_.data());
  for (double& value : values_) value = std::max(value, 0.0);
  const std::vector<double> columns = transposed(L_, L_, vectors_.data());
  projected_.resize(n_ * L_);
  multiply(n_, L_, L_, inputs_.data(), false, columns.data(), 0, projected_.data());
}

/// Leaves out directions of small eigenvalues, among them that of the means.
void RidgePath::decompose_rows() {
  constexpr double small = 1e-10;
  const std::vector<double> columns = transposed(n_, L_, inputs_.data());
  std::vector<double> vectors(n_ * n_);
  accumulate_gram(L_, n_, columns.data(), vectors.data());
  const std::vector<double> values = symmetric_eigen(n_, vectors.data());
  std::size_t first = 0;
  while (first < n_ && values[first] <= small * values.back()) ++first;
  values_.assign(values.begin() + std::ptrdiff_t(first), values.end());
  for (std::size_t k = 0; k < size(); ++k)
    for (std::size_t i = 0; i < n_; ++i) vectors[(first + k) * n_ + i] *= std::sqrt(values_[k]);
  projected_ = transposed(size(), n_, vectors.data() + first * n_);
}

std::vector<double> RidgePath::coefficients(double penalty) const {
  std::vector<double> scaled = products_;
  for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] /= values_[i / H_] + penalty;
  return scaled;
}

std::vector<double> RidgePath::left_out(double penalty) const {
  const std::vector<double> scaled = coefficients(penalty);
  std::vector<double> rest(n_ * H_);
  multiply(n_, H_, size(), projected_.data(), false, scaled.data(), 0, rest.data());
  for (std::size_t i = 0; i < n_; ++i) {
    double leverage = 1 / double(n_);
    for (std::size_t j = 0; j < size(); ++j) {
      const double x = projected_[i * size() + j];
      leverage += x * x / (values_[j] + penalty);
    }
    for (std::size_t h = 0; h < H_; ++h) {
      double& each = rest[i * H_ + h];
      each = (outputs_[i * H_ + h] - each) / (1 - std::min(leverage, most_leverage_));
    }
  }
  return rest;
}

double RidgePath::error(double penalty, Error kind) const {
  double sum = 0;
  for (const double each : left_out(penalty))
    sum += kind == Error::squared ? each * each : std::abs(each);
  return sum / double(n_ * H_);
}

double RidgePath::best_penalty(const std::vector<double>& penalties, Error kind) const {
  double best = 0, least = INFINITY;
  for (const double penalty : penalties) {
    const double now = error(penalty, kind);
    if (now < least) least = now, best = penalty;
  }
  return best;
}

double RidgePath::best_penalty() const {
  std::vector<double> penalties;
  for (double exponent = -6; exponent <= 2; exponent += 1)
    penalties.push_back(double(n_) * std::pow(10.0, exponent));
  return best_penalty(penalties, Error::absolute);
}

std::vector<double> RidgePath::weights(double penalty) const {
  std::vector<double> weights(L_ * H_), scaled = coefficients(penalty);
  if (!vectors_.empty()) {
    multiply(L_, H_, L_, vectors_.data(), true, scaled.data(), 0, weights.data());
    return weights;
  }
  std::vector<double> dual(n_ * H_);
  for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] /= values_[i / H_];
  multiply(n_, H_, size(), projected_.data(), false, scaled.data(), 0, dual.data());
  multiply(L_, H_, n_, inputs_.data(), true, dual.data(), 0, weights.data());
  return weights;
}

}  // namespace bochner
