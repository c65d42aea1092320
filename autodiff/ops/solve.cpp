#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/autodiff/ops/solve.hpp>
#include <bochner/base/numeric/cholesky.hpp>
#include <bochner/base/numeric/lu.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

using Matrix = std::vector<double>;

Matrix matrix_at(const Tensor& x, std::size_t index, std::size_t size) {
  return Matrix(x.data() + index * size, x.data() + (index + 1) * size);
}

void store(const Matrix& from, std::size_t index, Tensor& to) {
  std::transform(from.begin(), from.end(), to.data() + index * from.size(),
                 [](double u) { return real(u); });
}

void require_square(const char* op, const Shape& a) {
  require(a.size() >= 2 && axis_size(a, -1) == axis_size(a, -2), op,
          "the matrix must be square: a ", a);
}

/// Returns x with the leading axes `batch`, repeated if it has fewer.
Var over_batch(const Var& x, Shape batch) {
  batch.push_back(x.dim(-2));
  batch.push_back(x.dim(-1));
  return x.shape() == batch ? x : broadcast_to(x, batch);
}

/// Swaps the axes of (n, n).
Matrix transposed_copy(const Matrix& a, std::size_t n) {
  Matrix result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i % n * n + i / n] = a[i];
  return result;
}

/// Returns the factor of a symmetric matrix, zero above the diagonal.
Matrix lower_factor(Matrix a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) a[i * n + j] = (a[i * n + j] + a[j * n + i]) / 2;
  cholesky(n, a.data());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) a[i * n + j] = 0;
  return a;
}

/// Returns L^-T S L^-1 / 2, where S has the lower triangle of L^T g above and below its diagonal.
Matrix factor_gradient(const Matrix& factor, Matrix g, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) g[i * n + j] = 0;
  Matrix s(n * n);
  bochner::multiply(n, n, n, factor.data(), true, g.data(), 0, s.data());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) s[j * n + i] = s[i * n + j];
  solve_lower_transposed(n, factor.data(), n, s.data());
  s = transposed_copy(s, n);
  solve_lower_transposed(n, factor.data(), n, s.data());
  for (double& u : s) u /= 2;
  return s;
}

/// Returns L Phi(L^-1 d L^-T) for a symmetric d: Phi keeps the lower triangle and half of the
/// diagonal.
Var factor_tangent(const Var& factor, const Var& d) {
  const std::size_t n = d.dim(-1);
  std::vector<int> order;
  for (std::size_t axis = 0; axis < d.rank(); ++axis) order.push_back(int(axis));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  const Var symmetric = 0.5 * (d + transpose(d, order));
  const Var right = linear_solve(factor, transpose(linear_solve(factor, symmetric), order));
  Tensor half = zeros({n, n});
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) half(i, j) = real(i == j ? 0.5 : 1);
  return matmul(factor, right * half);
}

/// Calls body(index) for each matrix of (.., n, n); names it in errors.
template <class Body>
void for_each_matrix(const char* op, std::size_t count, std::size_t n, const Body& body) {
  parallel_rows(count, n * n * n, [&](std::size_t i) {
    try {
      body(i);
    } catch (const std::domain_error& error) {
      throw std::domain_error("[" + std::string(op) + "] entry " + std::to_string(i) + ": " +
                              error.what());
    }
  });
}

}  // namespace

Var linear_solve(const Var& a, const Var& b) {
  require_square("linear_solve", a.shape());
  require(b.rank() >= 2 && b.dim(-2) == a.dim(-1), "linear_solve",
          "b must be (.., n, k) for a (.., n, n): a ", a.shape(), ", b ", b.shape());
  const Shape batch =
      broadcast_shape("linear_solve", without_last(a.shape(), 2), without_last(b.shape(), 2));
  const Var matrices = over_batch(a, batch), right = over_batch(b, batch);
  const std::size_t n = a.dim(-1), k = b.dim(-1), count = element_count(batch);
  auto factors = std::make_shared<std::vector<LuFactors>>(count, LuFactors(0, {}));
  Tensor x = uninitialized(right.shape());
  for_each_matrix("linear_solve", count, n, [&](std::size_t i) {
    (*factors)[i] = LuFactors(n, matrix_at(matrices.value(), i, n * n));
    Matrix one = matrix_at(right.value(), i, n * k);
    (*factors)[i].solve(k, one.data());
    store(one, i, x);
  });
  return record(
      "linear_solve", std::move(x), {matrices, right},
      [=, a = matrices.gradient_only(), b = right.gradient_only()](const Tensor& x, Tensor& g) {
        for_each_matrix("linear_solve", count, n, [&](std::size_t i) {
          Matrix one = matrix_at(g, i, n * k);
          (*factors)[i].solve_transposed(k, one.data());
          store(one, i, g);
        });
        if (a.needs_gradient()) a.add_gradient(neg(matmul_nt(Var(g), Var(x))).value());
        b.add_gradient(std::move(g));
      },
      {{matrices,
        [&](const Var& d, const Var& x) { return -linear_solve(matrices, matmul(d, x)); }},
       {right, [&](const Var& d) { return linear_solve(matrices, d); }, TangentRule::factor}});
}

Var cholesky_factor(const Var& a) {
  require_square("cholesky_factor", a.shape());
  const std::size_t n = a.dim(-1), count = element_count(without_last(a.shape(), 2));
  Tensor y = uninitialized(a.shape());
  for_each_matrix("cholesky_factor", count, n, [&](std::size_t i) {
    store(lower_factor(matrix_at(a.value(), i, n * n), n), i, y);
  });
  return record("cholesky_factor", std::move(y), {a},
                [=, a = a.gradient_only()](const Tensor& y, Tensor& g) {
                  for_each_matrix("cholesky_factor", count, n, [&](std::size_t i) {
                    store(factor_gradient(matrix_at(y, i, n * n), matrix_at(g, i, n * n), n), i, g);
                  });
                  a.add_gradient(std::move(g));
                },
                {{a, [&](const Var& d, const Var& y) { return factor_tangent(y, d); }}});
}

}  // namespace bochner::inline BOCHNER_PRECISION
