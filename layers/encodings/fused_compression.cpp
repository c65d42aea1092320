#include <bochner/base/numeric/conjugate_gradients.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <bochner/layers/encodings/fused_compression.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t number_bytes = sizeof(float);
/// Relative squared residual at which a fit ends; the rest is below the rounding of the entries.
constexpr double fit_tolerance = sizeof(real) == 4 ? 1e-18 : 1e-24;
constexpr std::size_t gram_rows = 32;

using Numbers = std::vector<double>;

/// Returns the largest level of a signed number of so many bits.
double max_level(int bits) { return double((1 << (bits - 1)) - 1); }

double dot(const Numbers& a, const Numbers& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// W and the error of an approximation A: |x A|^2 sums a^T G a over columns a, G = x^T x (M, M).
class Problem {
 public:
  Problem(const char* what, const Tensor& w, const Tensor& x) : w_(w) {
    require(w.dimension() == 2 && x.dimension() == 2 && x.shape()[1] == w.shape()[0], what,
            "x must be (P, M) for W (M, N): x ", x.shape(), ", W ", w.shape());
    M = w.shape()[0], N = w.shape()[1], rank = std::min(M, x.shape()[0]);
    gram_.assign(M * M, 0);
    parallel_for(M, gram_rows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = 0; p < x.shape()[0]; ++p) {
        const real* row = x.data() + p * M;
        for (std::size_t i = begin; i < end; ++i)
          for (std::size_t j = 0; j < M; ++j) gram_[i * M + j] += double(row[i]) * double(row[j]);
      }
    });
  }
  std::size_t M, N;
  std::size_t rank;  ///< upper bound of the rank of x^T x
  Numbers column(const Tensor& a, std::size_t j) const {
    Numbers values(M);
    for (std::size_t i = 0; i < M; ++i) values[i] = double(a.data()[i * N + j]);
    return values;
  }
  /// Includes the error of rounding: each entry errs by a multiple of a step that spans the
  /// largest, about 3 a, so that |a|^2 G_ii (3 / levels)^2 / 12 is added to the square.
  void round_to(int bits) { rounding_ = 0.75 / std::pow(max_level(bits), 2); }
  /// Returns the tolerance of a fit, which need not be finer than the rounding.
  double tolerance() const { return rounding_ > 0 ? 1e-10 : fit_tolerance; }
  /// Returns the rounding penalty of entries in row i, 0 without rounding.
  double penalty(std::size_t i) const { return rounding_ * gram_[i * M + i]; }
  /// Returns G A. (M, N) -> (M, N)
  Numbers gram_times_all(const Numbers& a) const {
    Numbers result(M * N);
    parallel_for(M, gram_rows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t k = 0; k < M; ++k)
          for (std::size_t j = 0; j < N; ++j) result[i * N + j] += gram_[i * M + k] * a[k * N + j];
      }
    });
    return result;
  }
  /// G a
  Numbers gram_times(const Numbers& a) const {
    Numbers result(M);
    for (std::size_t i = 0; i < M; ++i)
      result[i] =
          std::inner_product(a.begin(), a.end(), gram_.begin() + std::ptrdiff_t(i * M), 0.0);
    return result;
  }
  CompressedMatrix approximation(Tensor weight, std::size_t bytes) const {
    double squared_error = 0, whole = 0;
    for (std::size_t j = 0; j < N; ++j) {
      const Numbers original = column(w_, j);
      Numbers error = column(weight, j);
      for (std::size_t i = 0; i < M; ++i) error[i] -= original[i];
      squared_error += dot(error, gram_times(error));
      whole += dot(original, gram_times(original));
    }
    return {std::move(weight),
            whole > 0 ? std::sqrt(std::max(0.0, squared_error) / whole) : 0,
            bytes,
            {},
            {}};
  }

 private:
  const Tensor& w_;
  Numbers gram_;
  double rounding_ = 0;
};

/// Returns the matrix within the mask whose x A is nearest to x W, rounding included: conjugate
/// gradients on the normal equations from the kept entries of W, with separate steps per column.
Numbers refit(const Problem& problem, const Tensor& w, const Tensor& kept) {
  const std::size_t N = problem.N, size = w.size();
  const auto masked = [&](Numbers a) {
    for (std::size_t i = 0; i < size; ++i) a[i] *= double(kept.data()[i]);
    return a;
  };
  const Numbers target(w.begin(), w.end());
  Numbers value = masked(target), rest(size);
  for (std::size_t i = 0; i < size; ++i) rest[i] = target[i] - value[i];
  /// Adds the rounding penalty of a, with `sign`, to G a.
  const auto with_penalty = [&](Numbers weighted, const Numbers& a, double sign) {
    for (std::size_t i = 0; i < size; ++i) weighted[i] += sign * problem.penalty(i / N) * a[i];
    return masked(std::move(weighted));
  };
  Numbers residual = with_penalty(problem.gram_times_all(rest), value, -1);
  const auto apply = [&](const Numbers& a) {
    return with_penalty(problem.gram_times_all(a), a, 1);
  };
  const LinearSystem system{.apply = apply,
                            .columns = N,
                            .tolerance = problem.tolerance(),
                            .max_steps = 2 * problem.rank};
  return conjugate_gradients(system, std::move(value), std::move(residual)).x;
}

/// Returns 1 for the `count` entries with the largest magnitudes.
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

/// Returns W^T G W, (N, N).
Numbers gram_product(const Problem& problem, const Tensor& w) {
  const std::size_t N = problem.N;
  Numbers products(N * N);
  for (std::size_t j = 0; j < N; ++j) {
    const Numbers weighted = problem.gram_times(problem.column(w, j));
    for (std::size_t i = 0; i < N; ++i) products[i * N + j] = dot(problem.column(w, i), weighted);
  }
  return products;
}

}  // namespace

CompressedMatrix measured(const Tensor& w, Tensor weight, const Tensor& x, std::size_t bytes) {
  require(weight.shape() == w.shape(), "measured", "shapes differ: ", w.shape(), " and ",
          weight.shape());
  return Problem("measured", w, x).approximation(std::move(weight), bytes);
}

CompressedMatrix pruned(const Tensor& w, const Tensor& x, double keep, Tensor& mask, int bits) {
  Problem problem("pruned", w, x);
  require(bits >= 2, "pruned", "bits = ", bits, " must be at least 2");
  if (bits <= 16) problem.round_to(bits);
  require(keep >= 0 && keep <= 1, "pruned", "keep = ", keep, " must be in [0, 1]");
  const std::size_t kept = std::size_t(std::lround(keep * double(w.size())));
  mask = largest_entries(w, kept);
  Tensor weight = uninitialized(w.shape());
  const Numbers values = refit(problem, w, mask);
  for (std::size_t i = 0; i < values.size(); ++i) weight.data()[i] = real(values[i]);
  return problem.approximation(std::move(weight), kept * number_bytes + ceil_div(w.size(), 8));
}

CompressedMatrix quantized(const Tensor& w, const Tensor& x, int bits) {
  const Problem problem("quantized", w, x);
  require(bits >= 2 && bits <= 16, "quantized", "bits = ", bits, " must be from 2 to 16");
  const auto [M, N] = std::pair(problem.M, problem.N);
  const double levels = max_level(bits);
  Tensor weight = uninitialized(w.shape());
  for (std::size_t r = 0; r < M; ++r) {
    const real* row = w.data() + r * N;
    double largest = 0;
    for (std::size_t j = 0; j < N; ++j) largest = std::max(largest, std::abs(double(row[j])));
    const double unit = largest > 0 ? largest / levels : 1;
    for (std::size_t j = 0; j < N; ++j)
      weight.data()[r * N + j] = real(unit * std::nearbyint(double(row[j]) / unit));
  }
  const std::size_t codes = ceil_div(w.size() * std::size_t(bits), 8);
  return problem.approximation(std::move(weight), codes + M * number_bytes);
}

CompressedMatrix low_rank(const Tensor& w, const Tensor& x, std::size_t rank) {
  const Problem problem("low_rank", w, x);
  const auto [M, N] = std::pair(problem.M, problem.N);
  const std::size_t r = std::min(rank, N);
  const SymmetricEigen eigen = symmetric_eigen(gram_product(problem, w), N);
  const auto direction = [&, N = N](std::size_t k, std::size_t j) {
    return eigen.vectors[j * N + (N - 1 - k)];  // the largest come last
  };
  Tensor weight = zeros(w.shape()), left = uninitialized({M, r}), right = uninitialized({r, N});
  for (std::size_t k = 0; k < r; ++k)
    for (std::size_t j = 0; j < N; ++j) right(k, j) = real(direction(k, j));
  for (std::size_t row = 0; row < M; ++row) {
    const real* from = w.data() + row * N;
    Numbers sums(N);
    for (std::size_t k = 0; k < r; ++k) {
      double factor = 0;
      for (std::size_t j = 0; j < N; ++j) factor += double(from[j]) * direction(k, j);
      for (std::size_t j = 0; j < N; ++j) sums[j] += factor * direction(k, j);
      left(row, k) = real(factor);
    }
    for (std::size_t j = 0; j < N; ++j) weight.data()[row * N + j] = real(sums[j]);
  }
  CompressedMatrix result = problem.approximation(std::move(weight), r * (M + N) * number_bytes);
  result.left = std::move(left);
  result.right = std::move(right);
  return result;
}

}  // namespace bochner::inline BOCHNER_PRECISION
