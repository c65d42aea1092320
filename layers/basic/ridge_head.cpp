#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/base/numeric/symmetric_eigen.hpp>
#include <bochner/layers/basic/ridge_head.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// A thin singular value decomposition X = U S V^T of rows X (n, d), without small S.
struct LeftVectors {
  std::size_t rank = 0;
  std::vector<double> u;        ///< (rank, n), by vector
  std::vector<double> squares;  ///< (rank): S^2
};

std::vector<double> transposed(std::size_t rows, std::size_t columns, const double* a) {
  std::vector<double> result(rows * columns);
  parallel_rows(columns, rows, [&](std::size_t j) {
    for (std::size_t i = 0; i < rows; ++i) result[j * rows + i] = a[i * columns + j];
  });
  return result;
}

/// By the eigenvectors of the smaller of X X^T and X^T X.
LeftVectors left_vectors(std::size_t n, std::size_t d, const std::vector<double>& x) {
  constexpr double small = 1e-10;
  const std::size_t size = std::min(n, d);
  const std::vector<double> columns = transposed(n, d, x.data());
  std::vector<double> vectors(size * size);
  accumulate_gram(std::max(n, d), size, (n < d ? columns : x).data(), vectors.data());
  const std::vector<double> values = symmetric_eigen(size, vectors.data());
  std::size_t first = 0;
  while (first < size && values[first] <= small * values.back()) ++first;
  LeftVectors left{size - first, {}, {values.begin() + std::ptrdiff_t(first), values.end()}};
  const double* kept = vectors.data() + first * size;
  if (n < d) {
    left.u.assign(kept, kept + left.rank * size);
    return left;
  }
  left.u.resize(left.rank * n);
  multiply(left.rank, n, d, kept, false, columns.data(), 0, left.u.data());
  for (std::size_t k = 0; k < left.rank; ++k)
    for (std::size_t i = 0; i < n; ++i) left.u[k * n + i] /= std::sqrt(left.squares[k]);
  return left;
}

/// Ridge regression of centred targets in the basis of left vectors.
class RidgeOfVectors {
 public:
  RidgeOfVectors(const LeftVectors& left, std::size_t n, std::size_t classes,
                 const std::vector<double>& targets)
      : left_(left), n_(n), classes_(classes), targets_(targets), products_(left.rank * classes) {
    multiply(left.rank, classes, n, left.u.data(), false, targets.data(), 0, products_.data());
  }

  /// Returns U diag(factor(S^2)) U^T Y. (n, classes)
  template <class Factor>
  std::vector<double> filtered(const Factor& factor) const {
    std::vector<double> scaled = products_, result(n_ * classes_);
    for (std::size_t i = 0; i < scaled.size(); ++i)
      scaled[i] *= factor(left_.squares[i / classes_]);
    multiply(n_, classes_, left_.rank, left_.u.data(), true, scaled.data(), 0, result.data());
    return result;
  }

  /// Returns the leave-one-out residuals. (n, classes)
  std::vector<double> residuals(double penalty) const {
    constexpr double least = 1e-6;
    std::vector<double> rest = filtered([&](double s) { return s / (s + penalty); });
    for (std::size_t i = 0; i < n_; ++i) {
      double leverage = 1 / double(n_);
      for (std::size_t k = 0; k < left_.rank; ++k) {
        const double u = left_.u[k * n_ + i];
        leverage += u * u * left_.squares[k] / (left_.squares[k] + penalty);
      }
      for (std::size_t c = 0; c < classes_; ++c) {
        double& each = rest[i * classes_ + c];
        each = (targets_[i * classes_ + c] - each) / std::max(least, 1 - leverage);
      }
    }
    return rest;
  }

 private:
  const LeftVectors& left_;
  std::size_t n_, classes_;
  const std::vector<double>& targets_;  // (n, classes)
  std::vector<double> products_;        // U^T Y (rank, classes)
};

double squared_sum(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x * x;
  return sum;
}

/// Returns the penalty of the least squared leave-one-out error, for d standardized features.
double best_penalty(const RidgeOfVectors& ridge, std::size_t d) {
  double best = 1, least = INFINITY;
  for (double exponent = -5; exponent <= 2; exponent += 0.5) {
    const double penalty = double(d) * std::pow(10.0, exponent),
                 error = squared_sum(ridge.residuals(penalty));
    if (error < least) least = error, best = penalty;
  }
  return best;
}

/// 1 for the class of an example and -1 for the others, less the means of the classes. (n, K)
struct CentredTargets {
  std::vector<double> values, means;

  CentredTargets(const std::vector<std::int32_t>& labels, std::size_t K)
      : values(labels.size() * K), means(K) {
    const std::size_t n = labels.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < K; ++k) {
        values[i * K + k] = labels[i] == std::int32_t(k) ? 1 : -1;
        means[k] += values[i * K + k] / double(n);
      }
    for (std::size_t i = 0; i < n * K; ++i) values[i] -= means[i % K];
  }
};

/// Returns the mean negative log likelihood of labels by the softmax of factor * scores. One label
/// of n + K is taken for any class, so that scores that are all right have a finite best factor.
double log_loss(const std::vector<double>& scores, const std::vector<std::int32_t>& labels,
                double factor) {
  const std::size_t n = labels.size(), K = scores.size() / n;
  const double stray = 1 / double(n + K);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double *row = scores.data() + i * K, top = *std::max_element(row, row + K);
    double total = 0, mean = 0;
    for (std::size_t k = 0; k < K; ++k) {
      total += std::exp(factor * (row[k] - top));
      mean += (row[k] - top) / double(K);
    }
    sum += std::log(total) - factor * ((1 - stray) * (row[labels[i]] - top) + stray * mean);
  }
  return sum / double(n);
}

/// Returns the likeliest factor on a grid.
double best_factor(const std::vector<double>& scores, const std::vector<std::int32_t>& labels) {
  double best = 1, least = INFINITY;
  for (int step = -4; step <= 20; ++step) {
    const double factor = std::pow(2.0, 0.25 * step), loss = log_loss(scores, labels, factor);
    if (loss < least) least = loss, best = factor;
  }
  return best;
}

}  // namespace

RidgeHead::RidgeHead(std::size_t features, std::size_t classes)
    : units_(filled({features, 2}, 1)),
      weights_(filled({features, classes}, 0)),
      biases_(filled({classes}, 0)),
      factor_(filled({1}, 1)) {
  for (std::size_t j = 0; j < features; ++j) units_(j, 0) = 0;
}

void RidgeHead::set_units(const Tensor& features) {
  constexpr double least = 1e-6;
  const std::size_t d = weights_.shape()[0], n = features.size() / d;
  parallel_rows(d, n, [&](std::size_t j) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) mean += double(features.data()[i * d + j]) / double(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double rest = double(features.data()[i * d + j]) - mean;
      squares += rest * rest;
    }
    const double deviation = std::sqrt(squares / double(n));
    units_(j, 0) = real(mean);
    units_(j, 1) = deviation > least ? real(deviation) : real(1);
  });
}

std::vector<double> RidgeHead::standardized(const Tensor& features) const {
  const std::size_t d = weights_.shape()[0], n = features.size() / d;
  std::vector<double> x(n * d);
  parallel_rows(n, d, [&](std::size_t i) {
    for (std::size_t j = 0; j < d; ++j)
      x[i * d + j] =
          (double(features.data()[i * d + j]) - double(units_(j, 0))) / double(units_(j, 1));
  });
  return x;
}

Tensor RidgeHead::fit(const Tensor& features, const std::vector<std::int32_t>& labels) {
  const std::size_t n = labels.size(), d = weights_.shape()[0], K = biases_.size();
  require(features.size() == n * d, "ridge head", "features of ", n, " examples, not ",
          to_string(features.shape()));
  set_units(features);
  const std::vector<double> x = standardized(features);
  const CentredTargets targets(labels, K);
  const LeftVectors left = left_vectors(n, d, x);
  const RidgeOfVectors ridge(left, n, K, targets.values);
  const double penalty = best_penalty(ridge, d);
  std::vector<double> scores = ridge.residuals(penalty), weights(d * K);
  for (std::size_t i = 0; i < n * K; ++i)
    scores[i] = targets.values[i] + targets.means[i % K] - scores[i];
  const std::vector<double> dual = ridge.filtered([&](double s) { return 1 / (s + penalty); });
  multiply(d, K, n, x.data(), true, dual.data(), 0, weights.data());
  const double factor = best_factor(scores, labels);
  std::ranges::transform(weights, weights_.data(), [](double w) { return real(w); });
  std::ranges::transform(targets.means, biases_.data(), [](double b) { return real(b); });
  factor_(0) = real(factor);
  Tensor result = uninitialized({n, K});
  std::ranges::transform(scores, result.data(), [&](double s) { return real(factor * s); });
  return result;
}

Tensor RidgeHead::logits(const Tensor& features) const {
  const std::size_t d = weights_.shape()[0], K = biases_.size(), n = features.size() / d;
  const std::vector<double> x = standardized(features);
  Tensor logits = uninitialized({n, K});
  parallel_tasks(n, [&](std::size_t i) {
    std::vector<double> scores(biases_.begin(), biases_.end());
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t k = 0; k < K; ++k) scores[k] += x[i * d + j] * double(weights_(j, k));
    for (std::size_t k = 0; k < K; ++k) logits(i, k) = real(double(factor_(0)) * scores[k]);
  });
  return logits;
}

void RidgeHead::visit(Visitor& visitor) {
  visitor("units", units_);
  visitor("weights", weights_);
  visitor("biases", biases_);
  visitor("factor", factor_);
}

}  // namespace bochner::inline BOCHNER_PRECISION
