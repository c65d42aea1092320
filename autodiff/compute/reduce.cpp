#include <algorithm>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/compute/reduce.hpp>
#include <cmath>
#include <cstring>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t lanes = 16;

real join_lanes(real* lane) {
  for (std::size_t width = lanes / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}

}  // namespace

real sum_row(const real* x, std::size_t n) {
  real lane[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) lane[j] += x[i + j];
  }
  for (std::size_t j = 0; i + j < n; ++j) lane[j] += x[i + j];
  return join_lanes(lane);
}

real dot_row(const real* x, const real* y, std::size_t n) {
  real lane[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) lane[j] += x[i + j] * y[i + j];
  }
  for (std::size_t j = 0; i + j < n; ++j) lane[j] += x[i + j] * y[i + j];
  return join_lanes(lane);
}

real max_row(const real* x, std::size_t n) {
  real lane[lanes];
  std::fill_n(lane, lanes, x[0]);
  real poison = 0;  // turns NaN as soon as an element is
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
  }
  for (std::size_t j = 0; i + j < n; ++j) lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
  for (std::size_t j = 0; j < n; ++j) poison = x[j] != x[j] ? x[j] : poison;
  if (poison != poison) return poison;
  for (std::size_t width = lanes / 2; width > 0; width /= 2) {
    for (std::size_t j = 0; j < width; ++j) lane[j] = std::max(lane[j], lane[j + width]);
  }
  return lane[0];
}

double sum_of_squares(const real* x, std::size_t n) {
  return parallel_sum<double>(n, elementwise_grain, [x](std::size_t begin, std::size_t end) {
    double lane[8] = {};
    std::size_t i = begin;
    for (; i + 8 <= end; i += 8) {
      for (std::size_t j = 0; j < 8; ++j) lane[j] += double(x[i + j]) * double(x[i + j]);
    }
    for (std::size_t j = 0; i + j < end; ++j) lane[j] += double(x[i + j]) * double(x[i + j]);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  });
}

bool all_finite(const real* x, std::size_t n) {
  const double bad =
      parallel_sum<double>(n, elementwise_grain, [x](std::size_t begin, std::size_t end) {
        std::size_t count = 0;
        for (std::size_t i = begin; i < end; ++i) count += !(x[i] - x[i] == real(0));
        return double(count);
      });
  return bad == 0;
}

void accumulate_columns(const real* x, std::size_t rows, std::size_t columns, real* y) {
  if (rows == 0 || columns == 0) return;
  const std::size_t grain = std::max<std::size_t>(64, elementwise_grain / columns);
  const std::size_t chunks = (rows + grain - 1) / grain;
  const auto add_rows = [=](std::size_t begin, std::size_t end, real* sum) {
    for (std::size_t i = begin; i < end; ++i) {
      const real* row = x + i * columns;
      for (std::size_t j = 0; j < columns; ++j) sum[j] += row[j];
    }
  };
  if (chunks == 1) return add_rows(0, rows, y);
  Storage partial(chunks * columns);
  parallel_for(rows, grain, [&](std::size_t begin, std::size_t end) {
    real* sum = partial.data() + begin / grain * columns;
    std::fill_n(sum, columns, real(0));
    add_rows(begin, end, sum);
  });
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    for (std::size_t j = 0; j < columns; ++j) y[j] += partial.data()[chunk * columns + j];
  }
}

Tensor sum_to_shape(const Tensor& x, const Shape& shape) {
  Tensor result = zeros(shape);
  if (x.size() == 0 || result.size() == 0) return result;
  const std::size_t rank = x.dimension(), offset = rank - shape.size();
  // Trailing axes that agree are contiguous rows; the axes before them are walked with strides.
  std::size_t row = 1, outer_rank = rank;
  while (outer_rank > offset && x.shape()[outer_rank - 1] == shape[outer_rank - 1 - offset]) {
    row *= x.shape()[--outer_rank];
  }
  const std::size_t outer = x.size() / row;
  if (result.size() == row) {
    accumulate_columns(x.data(), outer, row, result.data());
    return result;
  }
  std::vector<std::size_t> stride(outer_rank, 0), index(outer_rank, 0);
  std::size_t step = row;
  for (std::size_t axis = outer_rank; axis-- > offset;) {
    stride[axis] = shape[axis - offset] == 1 ? 0 : step;
    step *= shape[axis - offset];
  }
  std::size_t target = 0;
  for (std::size_t i = 0; i < outer; ++i) {
    const real* from = x.data() + i * row;
    real* to = result.data() + target;
    if (row == 1) {
      *to += *from;
    } else {
      for (std::size_t j = 0; j < row; ++j) to[j] += from[j];
    }
    for (std::size_t axis = outer_rank; axis-- > 0;) {
      target += stride[axis];
      if (++index[axis] < x.shape()[axis]) break;
      target -= stride[axis] * x.shape()[axis];
      index[axis] = 0;
    }
  }
  return result;
}

}  // namespace bochner::inline BOCHNER_PRECISION
