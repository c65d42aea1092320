#include <bochner/autodiff/ops/axis_rows.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/select.hpp>
#include <limits>
#include <numeric>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns y[.., i, ..] = x[.., place(i), ..] along an axis.
template <class Place>
Tensor reordered(const Tensor& x, std::size_t axis, const Place& place) {
  const AxisRows rows(x.shape(), axis);
  Tensor y = uninitialized(x.shape());
  if (rows.inner == 1) {
    parallel_pieces(rows.outer, rows.n, [&](std::size_t row, std::size_t first, std::size_t count) {
      const real* from = x.data() + row * rows.n;
      real* to = y.data() + row * rows.n + first;
      for (std::size_t i = 0; i < count; ++i) to[i] = from[place(first + i)];
    });
    return y;
  }
  parallel_rows(rows.outer * rows.n, rows.inner, [&](std::size_t row) {
    const std::size_t first = row / rows.n * rows.n;
    std::copy_n(x.data() + (first + place(row - first)) * rows.inner, rows.inner,
                y.data() + row * rows.inner);
  });
  return y;
}

Tensor flipped(const Tensor& x, std::size_t axis) {
  const std::size_t n = x.shape()[axis];
  return reordered(x, axis, [n](std::size_t i) { return n - 1 - i; });
}

/// Moves elements by `shift` < n places.
Tensor rolled(const Tensor& x, std::size_t axis, std::size_t shift) {
  const std::size_t n = x.shape()[axis];
  return reordered(x, axis, [=](std::size_t i) { return i < shift ? i + n - shift : i - shift; });
}

/// Lines of n elements along an axis and the m indices of each.
struct IndexedRows {
  AxisRows of, by;
  IndexedRows(const char* op, const Shape& shape, std::size_t axis, const Indices& indices)
      : of(shape, axis), by(of) {
    require(indices.shape.size() == shape.size(), op, "indices ", indices.shape,
            " must have the axes of x ", shape);
    by.n = indices.shape[axis];
    Shape expected = shape;
    expected[axis] = by.n;
    require(indices.shape == expected && indices.values.size() == element_count(expected), op,
            "indices ", indices.shape, " of ", indices.values.size(),
            " values must have the sizes of x ", shape, " outside axis ", axis);
    for (const std::int32_t index : indices.values)
      require(index >= 0 && std::size_t(index) < of.n, op, "index ", index,
              " is not an element of axis ", axis, " of x ", shape);
  }

  /// Calls body(element of x, place in the indices) in the order of the indices of each line.
  template <class Body>
  void for_each(const std::vector<std::int32_t>& index, const Body& body) const {
    if (by.n == 0) return;
    by.for_each_column([&](std::size_t first) {
      const std::size_t column = first % by.inner, row = first / (by.n * by.inner);
      for (std::size_t i = 0, at = first; i < by.n; ++i, at += by.inner)
        body((row * of.n + std::size_t(index[at])) * of.inner + column, at);
    });
  }
};

Tensor gathered(const IndexedRows& rows, const Tensor& x, const Indices& indices) {
  Tensor y = uninitialized(indices.shape);
  rows.for_each(indices.values,
                [&](std::size_t from, std::size_t to) { y.data()[to] = x.data()[from]; });
  return y;
}

void scatter(const IndexedRows& rows, const Tensor& updates, const Indices& indices, Tensor& y) {
  rows.for_each(indices.values,
                [&](std::size_t to, std::size_t from) { y.data()[to] += updates.data()[from]; });
}

/// Orders places of a line: larger elements first, then those before.
struct Larger {
  const real* line;
  bool operator()(std::int32_t i, std::int32_t j) const {
    const real a = line[i], b = line[j];
    if (a != a || b != b) return a != a && (b == b || i < j);
    return a != b ? a > b : i < j;
  }
};

}  // namespace

Var flip(const Var& x, int axis) {
  const std::size_t index = normalize_axis("flip", axis, x.rank());
  return record("flip", flipped(x.value(), index), {x},
                [x = x.gradient_only(), index](Tensor& gradient) {
                  x.add_gradient(flipped(gradient, index));
                },
                {{x, [&](const Var& d) { return flip(d, axis); }, TangentRule::linear}});
}

Var roll(const Var& x, int axis, std::ptrdiff_t shift) {
  const std::size_t index = normalize_axis("roll", axis, x.rank());
  const auto n = std::ptrdiff_t(std::max<std::size_t>(1, x.shape()[index]));
  const auto there = std::size_t((shift % n + n) % n),
             back = (std::size_t(n) - there) % std::size_t(n);
  return record("roll", rolled(x.value(), index, there), {x},
                [x = x.gradient_only(), index, back](Tensor& gradient) {
                  x.add_gradient(rolled(gradient, index, back));
                },
                {{x, [&](const Var& d) { return roll(d, axis, shift); }, TangentRule::linear}});
}

Var gather_along(const Var& x, int axis, const Indices& indices) {
  const std::size_t index = normalize_axis("gather_along", axis, x.rank());
  const IndexedRows rows("gather_along", x.shape(), index, indices);
  return record(
      "gather_along", gathered(rows, x.value(), indices), {x},
      [x = x.gradient_only(), rows, indices](Tensor& gradient) {
        scatter(rows, gradient, indices, x.gradient_buffer());
      },
      {{x, [&](const Var& d) { return gather_along(d, axis, indices); }, TangentRule::linear}});
}

Var scatter_add_along(const Var& base, int axis, const Indices& indices, const Var& updates) {
  const std::size_t index = normalize_axis("scatter_add_along", axis, base.rank());
  const IndexedRows rows("scatter_add_along", base.shape(), index, indices);
  require(updates.shape() == indices.shape, "scatter_add_along", "updates ", updates.shape(),
          " must have the shape of the indices ", indices.shape);
  Tensor y = base.value();
  scatter(rows, updates.value(), indices, y);
  const auto moved = [&](const Var& d) {
    return scatter_add_along(Var(zeros(base.shape())), axis, indices, d);
  };
  return record("scatter_add_along", std::move(y), {base, updates},
                [base = base.gradient_only(), updates = updates.gradient_only(), rows,
                 indices](Tensor& gradient) {
                  if (updates.needs_gradient())
                    updates.add_gradient(gathered(rows, gradient, indices));
                  base.add_gradient(std::move(gradient));
                },
                {{base, [](const Var& d) { return d; }, TangentRule::linear},
                 {updates, moved, TangentRule::linear}});
}

TopK topk(const Var& x, std::size_t k) {
  require(x.rank() >= 1 && k <= x.dim(-1), "topk", "no ", k, " elements on the last axis of x ",
          x.shape());
  const std::size_t n = x.dim(-1), rows = element_count(without_last(x.shape()));
  Indices indices{with_last(x.shape(), k), std::vector<std::int32_t>(rows * k)};
  parallel_rows(rows, n, [&](std::size_t row) {
    std::vector<std::int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    const auto end = order.begin() + std::ptrdiff_t(k);
    std::partial_sort(order.begin(), end, order.end(), Larger{x.data() + row * n});
    std::copy(order.begin(), end, indices.values.begin() + std::ptrdiff_t(row * k));
  });
  return {gather_along(x, -1, indices), std::move(indices)};
}

Indices argmax(const Var& x, int axis) {
  const std::size_t index = normalize_axis("argmax", axis, x.rank());
  const AxisRows rows(x.shape(), index);
  require(rows.n > 0, "argmax", "needs at least one element: x ", x.shape());
  Shape shape = x.shape();
  shape.erase(shape.begin() + std::ptrdiff_t(index));
  Indices places{shape, std::vector<std::int32_t>(rows.outer * rows.inner)};
  rows.for_each_column([&](std::size_t first) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < rows.n; ++i) {
      const real u = x.data()[first + i * rows.inner], top = x.data()[first + best * rows.inner];
      if (u > top || (u != u && top == top)) best = i;
    }
    places.values[first / (rows.n * rows.inner) * rows.inner + first % rows.inner] =
        std::int32_t(best);
  });
  return places;
}

}  // namespace bochner::inline BOCHNER_PRECISION
