#include <algorithm>
#include <bochner/autodiff/compute/openblas.hpp>
#include <bochner/layers/encodings/fused_compression.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t number_bytes = sizeof(float);
/// Squared residual, relative to the right side, at which a fit is at its end.
constexpr double fitted = 1e-24;

using Numbers = std::vector<double>;

double dot(const Numbers& a, const Numbers& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// W and how it is judged: |x A|^2 is the sum over columns a of a^T G a, G = x^T x (M, M).
class Problem {
 public:
  Problem(const char* what, const Tensor& w, const Tensor& x) : w_(w) {
    require(w.dimension() == 2 && x.dimension() == 2 && x.shape()[1] == w.shape()[0], what,
            "x must be (P, M) for W (M, N): x ", x.shape(), ", W ", w.shape());
    M = w.shape()[0], N = w.shape()[1];
    gram_.assign(M * M, 0);
    for (std::size_t p = 0; p < x.shape()[0]; ++p) {
      const real* row = x.data() + p * M;
      for (std::size_t i = 0; i < M; ++i) {
        for (std::size_t j = 0; j < M; ++j) gram_[i * M + j] += double(row[i]) * double(row[j]);
      }
    }
  }
  std::size_t M, N;
  Numbers column(const Tensor& a, std::size_t j) const {
    Numbers values(M);
    for (std::size_t i = 0; i < M; ++i) values[i] = double(a.data()[i * N + j]);
    return values;
  }
  /// G a
  Numbers weighed(const Numbers& a) const {
    Numbers result(M);
    for (std::size_t i = 0; i < M; ++i)
      result[i] =
          std::inner_product(a.begin(), a.end(), gram_.begin() + std::ptrdiff_t(i * M), 0.0);
    return result;
  }
  CompressedMatrix stand_in(Tensor weight, std::size_t bytes) const {
    double apart = 0, whole = 0;
    for (std::size_t j = 0; j < N; ++j) {
      const Numbers original = column(w_, j);
      Numbers error = column(weight, j);
      for (std::size_t i = 0; i < M; ++i) error[i] -= original[i];
      apart += dot(error, weighed(error));
      whole += dot(original, weighed(original));
    }
    return {std::move(weight), whole > 0 ? std::sqrt(std::max(0.0, apart) / whole) : 0, bytes};
  }

 private:
  const Tensor& w_;
  Numbers gram_;
};

/// The change within the mask that makes x (start + change) nearest to x target: conjugate
/// gradients on the normal equations, from no change on.
Numbers refitted(const Problem& problem, const Numbers& target, const Numbers& kept) {
  const std::size_t M = problem.M;
  Numbers value(M), rest(M);
  for (std::size_t i = 0; i < M; ++i) value[i] = kept[i] * target[i];
  for (std::size_t i = 0; i < M; ++i) rest[i] = target[i] - value[i];
  const auto masked = [&](Numbers a) {
    for (std::size_t i = 0; i < M; ++i) a[i] *= kept[i];
    return a;
  };
  Numbers residual = masked(problem.weighed(rest)), direction = residual;
  const double enough = fitted * dot(residual, residual);
  for (std::size_t step = 0; step < 2 * M; ++step) {
    const double before = dot(residual, residual);
    const Numbers moved = masked(problem.weighed(direction));
    const double curvature = dot(direction, moved);
    if (before <= enough || curvature <= 0) break;
    const double length = before / curvature;
    for (std::size_t i = 0; i < M; ++i) value[i] += length * direction[i];
    for (std::size_t i = 0; i < M; ++i) residual[i] -= length * moved[i];
    const double turn = dot(residual, residual) / before;
    for (std::size_t i = 0; i < M; ++i) direction[i] = residual[i] + turn * direction[i];
  }
  return value;
}

/// 1 for the `count` entries with the largest magnitudes.
Tensor largest_entries(const Tensor& w, std::size_t count) {
  std::vector<std::size_t> order(w.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(w.data()[a]) > std::abs(w.data()[b]);
  });
  Tensor mask = zeros(w.shape());
  for (std::size_t i = 0; i < count; ++i) mask.data()[order[i]] = 1;
  return mask;
}

/// W^T G W, (N, N).
Numbers seen_products(const Problem& problem, const Tensor& w) {
  const std::size_t N = problem.N;
  Numbers products(N * N);
  for (std::size_t j = 0; j < N; ++j) {
    const Numbers weighed = problem.weighed(problem.column(w, j));
    for (std::size_t i = 0; i < N; ++i) products[i * N + j] = dot(problem.column(w, i), weighed);
  }
  return products;
}

}  // namespace

CompressedMatrix pruned(const Tensor& w, const Tensor& x, double keep, Tensor& mask) {
  const Problem problem("pruned", w, x);
  require(keep >= 0 && keep <= 1, "pruned", "the fraction that is kept must be in [0, 1], not ",
          keep);
  const std::size_t kept = std::size_t(std::lround(keep * double(w.size())));
  mask = largest_entries(w, kept);
  Tensor weight = uninitialized(w.shape());
  for (std::size_t j = 0; j < problem.N; ++j) {
    const Numbers column = refitted(problem, problem.column(w, j), problem.column(mask, j));
    for (std::size_t i = 0; i < problem.M; ++i) weight.data()[i * problem.N + j] = real(column[i]);
  }
  return problem.stand_in(std::move(weight), kept * number_bytes + (w.size() + 7) / 8);
}

CompressedMatrix quantized(const Tensor& w, const Tensor& x, int bits) {
  const Problem problem("quantized", w, x);
  require(bits >= 2 && bits <= 16, "quantized", "2 to 16 bits are offered, not ", bits);
  const auto [M, N] = std::pair(problem.M, problem.N);
  const double levels = double((1 << (bits - 1)) - 1);
  Tensor weight = uninitialized(w.shape());
  for (std::size_t r = 0; r < M; ++r) {
    const real* row = w.data() + r * N;
    double largest = 0;
    for (std::size_t j = 0; j < N; ++j) largest = std::max(largest, std::abs(double(row[j])));
    const double unit = largest > 0 ? largest / levels : 1;
    for (std::size_t j = 0; j < N; ++j)
      weight.data()[r * N + j] = real(unit * std::nearbyint(double(row[j]) / unit));
  }
  const std::size_t codes = (w.size() * std::size_t(bits) + 7) / 8;
  return problem.stand_in(std::move(weight), codes + M * number_bytes);
}

CompressedMatrix low_rank(const Tensor& w, const Tensor& x, std::size_t rank) {
  const Problem problem("low_rank", w, x);
  const auto [M, N] = std::pair(problem.M, problem.N);
  const std::size_t r = std::min(rank, N);
  const SymmetricEigen eigen = symmetric_eigen(seen_products(problem, w), N);
  const auto direction = [&, N = N](std::size_t k, std::size_t j) {
    return eigen.vectors[j * N + (N - 1 - k)];  // the largest come last
  };
  Tensor weight = zeros(w.shape());
  for (std::size_t row = 0; row < M; ++row) {
    const real* from = w.data() + row * N;
    Numbers sums(N);
    for (std::size_t k = 0; k < r; ++k) {
      double factor = 0;
      for (std::size_t j = 0; j < N; ++j) factor += double(from[j]) * direction(k, j);
      for (std::size_t j = 0; j < N; ++j) sums[j] += factor * direction(k, j);
    }
    for (std::size_t j = 0; j < N; ++j) weight.data()[row * N + j] = real(sums[j]);
  }
  return problem.stand_in(std::move(weight), r * (M + N) * number_bytes);
}

}  // namespace bochner::inline BOCHNER_PRECISION
