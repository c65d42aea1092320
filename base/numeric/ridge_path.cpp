#include <algorithm>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/ridge_path.hpp>
#include <bochner/base/numeric/symmetric_eigen.hpp>
#include <cmath>

namespace bochner {

std::vector<double> remove_means(std::vector<double>& matrix, std::size_t d) {
  std::vector<double> means(d);
  const std::size_t n = matrix.size() / d;
  for (std::size_t i = 0; i < matrix.size(); ++i) means[i % d] += matrix[i] / double(n);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] -= means[i % d];
  return means;
}

RidgePath::RidgePath(std::size_t n, std::size_t L, std::size_t H, std::span<const double> inputs,
                     std::vector<double> outputs)
    : n_(n), L_(L), H_(H), outputs_(std::move(outputs)), vectors_(L * L) {
  accumulate_gram(n_, L, inputs.data(), vectors_.data());
  values_ = symmetric_eigen(L, vectors_.data());
  for (double& value : values_) value = std::max(value, 0.0);
  std::vector<double> columns(L * L);
  for (std::size_t i = 0; i < L * L; ++i) columns[i % L * L + i / L] = vectors_[i];
  projected_.resize(n_ * L);
  multiply(n_, L, L, inputs.data(), false, columns.data(), 0, projected_.data());
  products_.resize(L * H);
  multiply(L, H, n_, projected_.data(), true, outputs_.data(), 0, products_.data());
}

std::vector<double> RidgePath::coefficients(double penalty) const {
  std::vector<double> scaled = products_;
  for (std::size_t i = 0; i < L_ * H_; ++i) scaled[i] /= values_[i / H_] + penalty;
  return scaled;
}

double RidgePath::error(double penalty) const {
  constexpr double most_leverage = 0.99;
  const std::vector<double> scaled = coefficients(penalty);
  std::vector<double> fitted(n_ * H_);
  multiply(n_, H_, L_, projected_.data(), false, scaled.data(), 0, fitted.data());
  double sum = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    double leverage = 1 / double(n_);
    for (std::size_t j = 0; j < L_; ++j) {
      const double x = projected_[i * L_ + j];
      leverage += x * x / (values_[j] + penalty);
    }
    double row = 0;
    for (std::size_t h = 0; h < H_; ++h) row += std::abs(outputs_[i * H_ + h] - fitted[i * H_ + h]);
    sum += row / (1 - std::min(leverage, most_leverage));
  }
  return sum / double(n_ * H_);
}

double RidgePath::best_penalty() const {
  double best = 0, least = INFINITY;
  for (double exponent = -6; exponent <= 2; exponent += 1) {
    const double penalty = double(n_) * std::pow(10.0, exponent), now = error(penalty);
    if (now < least) least = now, best = penalty;
  }
  return best;
}

std::vector<double> RidgePath::weights(double penalty) const {
  std::vector<double> weights(L_ * H_);
  multiply(L_, H_, L_, vectors_.data(), true, coefficients(penalty).data(), 0, weights.data());
  return weights;
}

}  // namespace bochner
