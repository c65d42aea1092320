#include <bochner/autodiff/compute/permute.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// An axis of the result: its size and its strides in both arrays.
struct Axis {
  std::size_t size, from_stride, to_stride;
};

/// Returns the axes of the result, outermost first, with axes merged that stay neighbours.
std::vector<Axis> merged_axes(const Shape& shape, const std::vector<std::size_t>& order) {
  std::vector<std::size_t> stride(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) stride[axis - 1] = stride[axis] * shape[axis];
  std::vector<Axis> axes;
  for (std::size_t axis : order) {
    if (shape[axis] == 1) continue;
    if (!axes.empty() && axes.back().from_stride == stride[axis] * shape[axis]) {
      axes.back() = {axes.back().size * shape[axis], stride[axis], 0};
    } else {
      axes.push_back({shape[axis], stride[axis], 0});
    }
  }
  std::size_t step = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    axes[i].to_stride = step;
    step *= axes[i].size;
  }
  return axes;
}

struct Offsets {
  std::size_t from = 0, to = 0;
};

/// Returns the offsets of the index-th combination of the outer axes.
Offsets offsets_of(const std::vector<Axis>& outer, std::size_t index) {
  Offsets offsets;
  for (std::size_t i = outer.size(); i-- > 0;) {
    const std::size_t position = index % outer[i].size;
    index /= outer[i].size;
    offsets.from += position * outer[i].from_stride;
    offsets.to += position * outer[i].to_stride;
  }
  return offsets;
}

void copy_rows(const real* from, real* to, const std::vector<Axis>& outer, std::size_t rows,
               std::size_t row_size) {
  parallel_pieces(rows, row_size, [&](std::size_t row, std::size_t column, std::size_t count) {
    const Offsets offsets = offsets_of(outer, row);
    std::copy_n(from + offsets.from + column, count, to + offsets.to + column);
  });
}

void transpose_tile(const real* from, real* to, const Axis& a, std::size_t a_count, const Axis& b,
                    std::size_t b_count) {
  for (std::size_t i = 0; i < a_count; ++i) {
    for (std::size_t j = 0; j < b_count; ++j) {
      to[i * a.to_stride + j] = from[i + j * b.from_stride];
    }
  }
}

/// Copies in tiles, which keep cache lines of both arrays in use while contiguous axes swap.
void copy_tiles(const real* from, real* to, const std::vector<Axis>& outer, std::size_t outer_count,
                const Axis& a, const Axis& b) {
  constexpr std::size_t tile = 16;
  const std::size_t strips = ceil_div(a.size, tile);
  parallel_rows(outer_count * strips, tile * b.size, [&](std::size_t task) {
    const Offsets offsets = offsets_of(outer, task / strips);
    const std::size_t i = task % strips * tile;
    for (std::size_t j = 0; j < b.size; j += tile) {
      transpose_tile(from + offsets.from + i + j * b.from_stride,
                     to + offsets.to + i * a.to_stride + j, a, std::min(tile, a.size - i), b,
                     std::min(tile, b.size - j));
    }
  });
}

}  // namespace

Tensor permute(const Tensor& x, const std::vector<std::size_t>& order) {
  Shape shape;
  for (std::size_t axis : order) shape.push_back(x.shape()[axis]);
  Tensor result = uninitialized(shape);
  if (result.size() == 0) return result;
  std::vector<Axis> axes = merged_axes(x.shape(), order);
  if (axes.empty()) axes.push_back({1, 1, 1});
  const Axis last = axes.back();
  axes.pop_back();
  if (last.from_stride == 1) {
    copy_rows(x.data(), result.data(), axes, x.size() / last.size, last.size);
    return result;
  }
  const auto contiguous = std::find_if(axes.begin(), axes.end(),
                                       [](const Axis& axis) { return axis.from_stride == 1; });
  const Axis other = *contiguous;
  axes.erase(contiguous);
  copy_tiles(x.data(), result.data(), axes, x.size() / (last.size * other.size), other, last);
  return result;
}

std::vector<std::size_t> inverse_order(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> inverse(order.size());
  for (std::size_t axis = 0; axis < order.size(); ++axis) inverse[order[axis]] = axis;
  return inverse;
}

std::vector<std::size_t> kept_axes_first(const std::vector<bool>& reduced) {
  std::vector<std::size_t> order;
  for (bool last : {false, true}) {
    for (std::size_t axis = 0; axis < reduced.size(); ++axis) {
      if (reduced[axis] == last) order.push_back(axis);
    }
  }
  return order;
}

}  // namespace bochner::inline BOCHNER_PRECISION
