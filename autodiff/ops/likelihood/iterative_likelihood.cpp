#include <bochner/autodiff/compute/math.hpp>
#include <bochner/autodiff/ops/likelihood/iterative_likelihood.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/openblas.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t matrix_tile = 128;
constexpr double min_pivot = 1e-10;  // of a preconditioner, relative to the first

LowRankPlusNoise preconditioner_of(const RowwiseCovariance& covariance, std::size_t rank) {
  const std::size_t n = covariance.size();
  std::vector<double> diagonal(n);
  for (std::size_t i = 0; i < n; ++i) diagonal[i] = covariance.variance(i);
  return {n,
          pivoted_cholesky(n, std::move(diagonal), rank, min_pivot,
                           [&](std::size_t i, double* row) { covariance.full_row(i, row); }),
          covariance.noise()};
}

/// Returns probes (n, probes), samples of N(0, P), or unit vectors if there are enough probes.
std::vector<double> probes_of(const LowRankPlusNoise& preconditioner, std::size_t n,
                              std::size_t& probes) {
  const std::size_t rank = preconditioner.rank(), all = n + rank;
  const bool exact = probes >= all;
  if (exact) probes = all;
  const RandomFunction random{0, Purpose::spectral, stream_of("probes")};
  std::vector<double> numbers(all * probes);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = exact ? (i / probes == i % probes ? std::sqrt(double(all)) : 0) : random.normal(i);
  const auto border = numbers.begin() + std::ptrdiff_t(rank * probes);
  return preconditioner.colour({numbers.begin(), border}, {border, numbers.end()}, probes);
}

/// Throws if rounding dominates: rounded entries move eigenvalues by about sqrt(n) roundings of the
/// variance, which must be below the noise.
void require_noise(const RowwiseCovariance& covariance) {
  const std::size_t n = covariance.size();
  double variance = 0;
  for (std::size_t i = 0; i < n; ++i) variance += covariance.variance(i) / double(n);
  const double least =
      double(std::numeric_limits<real>::epsilon()) * std::sqrt(double(n)) * variance;
  if (!(covariance.noise() > least))
    throw std::domain_error("conjugate gradients: rounding hides the noise");
}

/// Returns e_1^T ln(T) e_1, T the Lanczos matrix of the conjugate gradient coefficients.
double log_of_lanczos(const std::vector<double>& alphas, const std::vector<double>& betas) {
  const std::size_t m = alphas.size();
  std::vector<double> matrix(m * m);
  for (std::size_t i = 0; i < m; ++i) {
    matrix[i * m + i] = 1 / alphas[i] + (i > 0 ? betas[i - 1] / alphas[i - 1] : 0);
    if (i + 1 < m)
      matrix[i * m + i + 1] = matrix[(i + 1) * m + i] = std::sqrt(betas[i]) / alphas[i];
  }
  const SymmetricEigen eigen = symmetric_eigen(matrix, m);
  double sum = 0;
  for (std::size_t j = 0; j < m; ++j) {
    if (!(eigen.values[j] > 0))
      throw std::domain_error("conjugate gradients: an eigenvalue is not above 0");
    sum += eigen.vectors[j] * eigen.vectors[j] * std::log(eigen.values[j]);
  }
  return sum;
}

/// K^-1 y, and K^-1 z and P^-1 z of the probes z.
struct IterativeState {
  std::vector<double> alpha, solved, weighed;  // (n), (n, probes), (n, probes)
  std::size_t probes;
  double log_likelihood;
};

IterativeState iterated(const IterativeCovariance& matrix, const std::vector<double>& y,
                        std::size_t probes) {
  const std::size_t n = matrix.size();
  const LowRankPlusNoise& preconditioner = matrix.preconditioner();
  const std::vector<double> z = probes_of(preconditioner, n, probes);
  LinearSolution solution = matrix.solve(z, probes);
  IterativeState state{matrix.solve(y, 1).x, {}, preconditioner.solve(z, probes), probes, 0};
  double log_determinant = preconditioner.log_determinant();
  for (std::size_t p = 0; p < probes; ++p) {
    double square = 0;  // z^T P^-1 z
    for (std::size_t i = 0; i < n; ++i) square += z[i * probes + p] * state.weighed[i * probes + p];
    log_determinant +=
        square * log_of_lanczos(solution.alphas[p], solution.betas[p]) / double(probes);
  }
  state.solved = std::move(solution.x);
  state.log_likelihood = -(std::inner_product(y.begin(), y.end(), state.alpha.begin(), 0.0) +
                           log_determinant + double(n) * log_two_pi) /
                         2;
  return state;
}

/// Computes row i of (alpha alpha^T - mean of (K^-1 z) (P^-1 z)^T) / 2, symmetrised; doubled below
/// the diagonal, for both triangles.
void iterative_weights(const IterativeState& state, std::size_t i, double* numbers) {
  const double *solved = state.solved.data(), *weighed = state.weighed.data();
  const std::size_t P = state.probes;
  for (std::size_t j = 0; j <= i; ++j) {
    double trace = 0;
    for (std::size_t p = 0; p < P; ++p)
      trace += solved[i * P + p] * weighed[j * P + p] + solved[j * P + p] * weighed[i * P + p];
    numbers[j] = (state.alpha[i] * state.alpha[j] - trace / double(2 * P)) / (i == j ? 2 : 1);
  }
}

}  // namespace

IterativeCovariance::IterativeCovariance(const RowwiseCovariance& covariance,
                                         const IterativeSpec& spec)
    : n_(covariance.size()),
      spec_(spec),
      lower_(n_ * (n_ + 1) / 2),
      diagonal_(n_),
      preconditioner_(preconditioner_of(covariance, spec.rank)) {
  require_noise(covariance);
  parallel_each(n_, 1, [&](std::size_t i) {
    std::vector<double> row(i + 1);
    covariance.row(i, row.data());
    diagonal_[i] = std::exchange(row[i], 0.0);
    std::ranges::transform(row, lower_.begin() + std::ptrdiff_t(i * (i + 1) / 2),
                           [](double x) { return real(x); });
  });
}

std::size_t IterativeCovariance::tile_size(std::size_t block) const {
  return std::min(matrix_tile, n_ - block * matrix_tile);
}

/// Copies rows of `block` and columns of `other`, an earlier block or the same. -> (rows, columns)
void IterativeCovariance::copy_tile(std::size_t block, std::size_t other, double* tile) const {
  const std::size_t left = other * matrix_tile, columns = tile_size(other);
  for (std::size_t r = 0; r < tile_size(block); ++r, tile += columns) {
    const std::size_t i = block * matrix_tile + r;
    std::copy_n(lower_.data() + i * (i + 1) / 2 + left, std::min(columns, i + 1 - left), tile);
  }
  if (block != other) return;
  tile -= columns * columns;
  for (std::size_t r = 0; r < columns; ++r)
    for (std::size_t c = r + 1; c < columns; ++c) tile[r * columns + c] = tile[c * columns + r];
}

std::vector<double> IterativeCovariance::times(const std::vector<double>& x,
                                               std::size_t columns) const {
  const std::size_t blocks = ceil_div(n_, matrix_tile);
  std::vector<double> y(n_ * columns);
  parallel_tasks(blocks, [&](std::size_t block) {
    std::vector<double> tile(matrix_tile * matrix_tile);
    const std::size_t first = block * matrix_tile, rows = tile_size(block);
    for (std::size_t other = 0; other < blocks; ++other) {
      const bool above = other > block;  // stored transposed
      copy_tile(std::max(block, other), std::min(block, other), tile.data());
      multiply(rows, columns, tile_size(other), tile.data(), above,
               x.data() + other * matrix_tile * columns, 1, y.data() + first * columns);
    }
    for (std::size_t i = first; i < first + rows; ++i)
      for (std::size_t c = 0; c < columns; ++c)
        y[i * columns + c] += diagonal_[i] * x[i * columns + c];
  });
  return y;
}

LinearSolution IterativeCovariance::solve(const std::vector<double>& b, std::size_t columns) const {
  const LinearSystem system{
      .apply = [&](const std::vector<double>& x) { return times(x, columns); },
      .precondition =
          [&](const std::vector<double>& r) { return preconditioner_.solve(r, columns); },
      .columns = columns,
      .tolerance = spec_.tolerance,
      .max_steps = spec_.max_steps,
      .strict = true};
  return conjugate_gradients(system, std::vector<double>(b.size()), b);
}

Var iterative_log_likelihood(const std::vector<Var>& parameters,
                             std::shared_ptr<const RowwiseCovariance> covariance,
                             const std::vector<double>& y, const IterativeSpec& spec) {
  require(y.size() == covariance->size() && spec.probes > 0, "iterative_log_likelihood",
          "a covariance of ", covariance->size(), " rows, ", y.size(), " values and ", spec.probes,
          " probes");
  auto state = std::make_shared<IterativeState>(
      iterated(IterativeCovariance(*covariance, spec), y, spec.probes));
  return record("iterative_log_likelihood", filled({}, real(state->log_likelihood)), parameters,
                [parameters, covariance = std::move(covariance), state](Tensor& g) {
                  const auto slopes = covariance->pull_back(
                      [&](std::size_t i, double* row) { iterative_weights(*state, i, row); });
                  add_slopes(parameters, slopes, double(g.data()[0]));
                });
}

}  // namespace bochner::inline BOCHNER_PRECISION
