#include <bochner/autodiff/ops/linalg.hpp>
#include <bochner/layers/spectral/base_draws.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Standard normal numbers first, first + 1, ... of the random function.
Tensor normal(const Shape& shape, const RandomFunction& random, std::uint64_t first) {
  Tensor x = uninitialized(shape);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = real(random.normal(first + i));
  return x;
}

double length_of(const real* row, std::size_t d) {
  double square = 0;
  for (std::size_t i = 0; i < d; ++i) square += double(row[i]) * double(row[i]);
  return std::sqrt(square);
}

/// Replaces up to d rows of `draws` by orthogonal directions of the same lengths: the lengths come
/// from the iid rows, the directions from an independent matrix.
void orthogonalize_block(real* draws, std::size_t rows, std::size_t d, const Tensor& gaussian) {
  const Tensor q = orthogonalize(gaussian);
  for (std::size_t i = 0; i < rows; ++i) {
    real* row = draws + i * d;
    const double length = length_of(row, d);
    for (std::size_t j = 0; j < d; ++j) row[j] = real(length * double(q.data()[j * d + i]));
  }
}

}  // namespace

Tensor base_draws(const std::string& kind, std::size_t H, std::size_t m, std::size_t d,
                  const RandomFunction& random) {
  require(kind == "iid" || kind == "orthogonal", "draws", "no base draws are called \"", kind,
          "\"; there are: iid, orthogonal");
  Tensor draws = normal({H, m, d}, random, 0);
  if (kind == "iid") return draws;
  std::uint64_t used = draws.size();
  for (std::size_t h = 0; h < H; ++h) {
    for (std::size_t first = 0; first < m; first += d, used += d * d) {
      orthogonalize_block(draws.data() + (h * m + first) * d, std::min(d, m - first), d,
                          normal({d, d}, random, used));
    }
  }
  return draws;
}

}  // namespace bochner::inline BOCHNER_PRECISION
