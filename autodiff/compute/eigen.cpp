#include <array>
#include <bochner/autodiff/compute/eigen.hpp>
#include <bochner/autodiff/compute/openblas.hpp>
#include <xtensor-blas/xlinalg.hpp>
#include <xtensor/xadapt.hpp>

namespace bochner {
namespace {

auto as_matrix(const std::vector<double>& a, std::size_t n) {
  start_openblas();
  return xt::adapt(a, std::array{n, n});
}

}  // namespace

SymmetricEigen symmetric_eigen(const std::vector<double>& a, std::size_t n) {
  if (n == 0) return {};
  const auto [values, vectors] = xt::linalg::eigh(as_matrix(a, n));
  SymmetricEigen result{{values.begin(), values.end()}, std::vector<double>(n * n)};
  for (std::size_t i = 0; i < n * n; ++i) result.vectors[i] = vectors(i / n, i % n);
  return result;
}

std::vector<double> orthonormal_factor(const std::vector<double>& a, std::size_t n) {
  const auto [q, r] = xt::linalg::qr(as_matrix(a, n));
  std::vector<double> factor(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) factor[i * n + j] = r(j, j) < 0 ? -q(i, j) : q(i, j);
  return factor;
}

std::vector<double> square_product(const std::vector<double>& a, const std::vector<double>& b,
                                   std::size_t n) {
  const xt::xarray<double> product = xt::linalg::dot(as_matrix(a, n), as_matrix(b, n));
  return {product.begin(), product.end()};
}

std::vector<double> solve(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t n = b.size();
  const auto x = xt::linalg::solve(as_matrix(a, n), xt::adapt(b, std::array{n}));
  return {x.begin(), x.end()};
}

}  // namespace bochner
