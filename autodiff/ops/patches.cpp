#include <algorithm>
#include <bochner/autodiff/compute/parallel_rows.hpp>
#include <bochner/autodiff/ops/shape.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Pieces of `length` elements of a row of n, the first one `offset` elements behind its begin.
struct Pieces {
  std::size_t n, length, stride, count, offset;
  std::size_t begin(std::size_t piece) const { return offset + piece * stride; }
};

Pieces pieces_of(std::size_t n, std::size_t length, std::size_t stride) {
  const std::size_t count = (n - length) / stride + 1;
  return {n, length, stride, count, n - length - (count - 1) * stride};
}

/// whole[row] += pieces of that row, in their order
void add_pieces(const Tensor& gradient, const Pieces& pieces, Tensor& whole) {
  const std::size_t rows = whole.size() / std::max<std::size_t>(1, pieces.n);
  const std::size_t row_size = pieces.count * pieces.length;
  parallel_rows(rows, row_size, [&](std::size_t row) {
    for (std::size_t i = 0; i < pieces.count; ++i) {
      const real* from = gradient.data() + row * row_size + i * pieces.length;
      real* to = whole.data() + row * pieces.n + pieces.begin(i);
      for (std::size_t j = 0; j < pieces.length; ++j) to[j] += from[j];
    }
  });
}

}  // namespace

Var patches(const Var& x, std::size_t length, std::size_t stride) {
  require(x.rank() >= 1 && length >= 1 && stride >= 1 && length <= x.dim(-1), "patches",
          "no pieces of length ", length, " and stride ", stride, " in x ", x.shape());
  const Pieces pieces = pieces_of(x.dim(-1), length, stride);
  Shape shape = x.shape();
  shape.back() = pieces.count;
  shape.push_back(length);
  Tensor y = uninitialized(shape);
  parallel_rows(x.size() / pieces.n * pieces.count, length, [&](std::size_t i) {
    const real* row = x.data() + i / pieces.count * pieces.n;
    std::copy_n(row + pieces.begin(i % pieces.count), length, y.data() + i * length);
  });
  return record("patches", std::move(y), {x}, [x = x.gradient_only(), pieces](Tensor& gradient) {
    add_pieces(gradient, pieces, x.gradient_buffer());
  });
}

}  // namespace bochner::inline BOCHNER_PRECISION
