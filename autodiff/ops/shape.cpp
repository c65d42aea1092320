#include <bochner/autodiff/compute/permute.hpp>
#include <bochner/autodiff/ops/axis_rows.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/shape.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr auto identity = [](real u) { return u; };

/// Elements first <= i < first + count of one axis: a range in each row of an array (outer, row).
struct Window {
  std::size_t outer, row, offset, run;
};

Window window_of(const Shape& shape, std::size_t axis, std::size_t first, std::size_t count) {
  const AxisRows rows(shape, axis);
  return {rows.outer, rows.n * rows.inner, first * rows.inner, count * rows.inner};
}

Shape with_size(Shape shape, std::size_t axis, std::size_t size) {
  shape[axis] = size;
  return shape;
}

void write_window(const real* part, const Window& window, real* whole) {
  parallel_pieces(window.outer, window.run, [&](std::size_t i, std::size_t j, std::size_t count) {
    std::copy_n(part + i * window.run + j, count, whole + i * window.row + window.offset + j);
  });
}

void add_to_window(const real* part, const Window& window, real* whole) {
  parallel_pieces(window.outer, window.run, [&](std::size_t i, std::size_t j, std::size_t count) {
    const real* from = part + i * window.run + j;
    real* to = whole + i * window.row + window.offset + j;
    for (std::size_t k = 0; k < count; ++k) to[k] += from[k];
  });
}

Tensor window_copy(const Tensor& whole, const Shape& shape, const Window& window) {
  Tensor part = uninitialized(shape);
  const real* from = whole.data() + window.offset;
  parallel_pieces(window.outer, window.run, [&](std::size_t i, std::size_t j, std::size_t count) {
    std::copy_n(from + i * window.row + j, count, part.data() + i * window.run + j);
  });
  return part;
}

/// Returns concat() as a sum of arrays of `size` along the axis.
Var sum_of_padded(const std::vector<Var>& parts, std::size_t axis, std::size_t size) {
  Var sum;
  std::size_t first = 0;
  for (const Var& part : parts) {
    const std::size_t last = first + part.shape()[axis];
    const Var padded = pad(part, int(axis), first, size - last);
    sum = sum.exists() ? sum + padded : padded;
    first = last;
  }
  return sum;
}

Shape concat_shape(const std::vector<Var>& parts, std::size_t axis) {
  Shape shape = parts[0].shape();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Shape& other = parts[i].shape();
    require(other.size() == shape.size() &&
                with_size(other, axis, 0) == with_size(parts[0].shape(), axis, 0),
            "concat", "shapes differ outside axis ", axis, ": ", parts[0].shape(), ", ", other);
    shape[axis] += other[axis];
  }
  return shape;
}

void require_indices(const Indices& indices, const Shape& table) {
  require(indices.values.size() == element_count(indices.shape), "gather", "indices of shape ",
          indices.shape, " have ", indices.values.size(), " values");
  for (std::int32_t index : indices.values) {
    require(index >= 0 && std::size_t(index) < table[0], "gather", "index ", index,
            " is not a row of the table ", table);
  }
}

/// Adds rows[i] to table[index[i]]; tasks own columns, so that rows are added in order.
void scatter_add(const Tensor& rows, const std::vector<std::int32_t>& index, Tensor& table) {
  constexpr std::size_t block = 16;
  const std::size_t D = table.shape()[1];
  parallel_tasks(ceil_div(D, block), [&](std::size_t task) {
    const std::size_t begin = task * block, end = std::min(D, begin + block);
    for (std::size_t i = 0; i < index.size(); ++i) {
      const real* from = rows.data() + i * D;
      real* to = table.data() + std::size_t(index[i]) * D;
      for (std::size_t j = begin; j < end; ++j) to[j] += from[j];
    }
  });
}

/// Pieces of `length` elements of a row of n, the first one at `offset`.
struct Pieces {
  std::size_t n, length, stride, count, offset;
  std::size_t begin(std::size_t piece) const { return offset + piece * stride; }
};

Pieces pieces_of(std::size_t n, std::size_t length, std::size_t stride) {
  const std::size_t count = (n - length) / stride + 1;
  return {n, length, stride, count, n - length - (count - 1) * stride};
}

/// Adds the pieces of each row to whole, in order.
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

Var reshape(const Var& x, const Shape& shape) {
  require(element_count(shape) == x.size(), "reshape", "sizes differ: x ", x.shape(), ", shape ",
          shape);
  Tensor y = map(x.shape(), identity, x.value());
  y.reshape(shape);
  return record("reshape", std::move(y), {x},
                [x = x.gradient_only()](Tensor& gradient) {
                  gradient.reshape(x.shape());
                  x.add_gradient(std::move(gradient));
                },
                {{x, [&](const Var& d) { return reshape(d, shape); }, TangentRule::linear}});
}

Var transpose(const Var& x, const std::vector<int>& order) {
  require(order.size() == x.rank(), "transpose", "an order of ", order.size(), " axes for x ",
          x.shape());
  std::vector<std::size_t> axes;
  for (int axis : order) {
    axes.push_back(normalize_axis("transpose", axis, x.rank()));
    require(std::count(axes.begin(), axes.end(), axes.back()) == 1, "transpose", "axis ", axis,
            " is repeated");
  }
  return record("transpose", permute(x.value(), axes), {x},
                [x = x.gradient_only(), back = inverse_order(axes)](Tensor& gradient) {
                  x.add_gradient(permute(gradient, back));
                },
                {{x, [&](const Var& d) { return transpose(d, order); }, TangentRule::linear}});
}

Var slice(const Var& x, int axis, std::size_t begin, std::size_t end) {
  const std::size_t index = normalize_axis("slice", axis, x.rank());
  require(begin <= end && end <= x.shape()[index], "slice", "no elements ", begin, " to ", end,
          " on axis ", axis, " of x ", x.shape());
  const Window window = window_of(x.shape(), index, begin, end - begin);
  return record(
      "slice", window_copy(x.value(), with_size(x.shape(), index, end - begin), window), {x},
      [x = x.gradient_only(), window](Tensor& gradient) {
        add_to_window(gradient.data(), window, x.gradient_buffer().data());
      },
      {{x, [&](const Var& d) { return slice(d, axis, begin, end); }, TangentRule::linear}});
}

Var concat(const std::vector<Var>& parts, int axis) {
  require(!parts.empty(), "concat", "needs at least one array");
  const std::size_t index = normalize_axis("concat", axis, parts[0].rank());
  const Shape shape = concat_shape(parts, index);
  if (has_tangents(parts)) return sum_of_padded(parts, index, shape[index]);
  Tensor y = uninitialized(shape);
  std::vector<Window> windows;
  std::vector<Var> targets;
  std::size_t first = 0;
  for (const Var& part : parts) {
    windows.push_back(window_of(y.shape(), index, first, part.shape()[index]));
    targets.push_back(part.gradient_only());
    write_window(part.data(), windows.back(), y.data());
    first += part.shape()[index];
  }
  return record("concat", std::move(y), parts, [targets, windows](Tensor& gradient) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (!targets[i].needs_gradient()) continue;
      targets[i].add_gradient(window_copy(gradient, targets[i].shape(), windows[i]));
    }
  });
}

Var stack(const std::vector<Var>& parts, int axis) {
  require(!parts.empty(), "stack", "needs at least one array");
  const Shape& shape = parts[0].shape();
  const std::size_t index = normalize_axis("stack", axis, shape.size() + 1);
  Shape row(shape.begin(), shape.begin() + std::ptrdiff_t(index));
  row.push_back(1);
  row.insert(row.end(), shape.begin() + std::ptrdiff_t(index), shape.end());
  std::vector<Var> rows;
  for (const Var& part : parts) {
    require(part.shape() == shape, "stack", "shapes differ: ", shape, ", ", part.shape());
    rows.push_back(reshape(part, row));
  }
  return concat(rows, int(index));
}

std::vector<Var> split(const Var& x, int axis, const std::vector<std::size_t>& sizes) {
  const std::size_t n = x.shape()[normalize_axis("split", axis, x.rank())];
  std::size_t first = 0, total = 0;
  for (const std::size_t size : sizes) total += size;
  require(total == n, "split", "sizes add up to ", total, ", axis ", axis, " of x ", x.shape(),
          " has ", n);
  std::vector<Var> parts;
  for (const std::size_t size : sizes) {
    parts.push_back(slice(x, axis, first, first + size));
    first += size;
  }
  return parts;
}

Var pad(const Var& x, int axis, std::size_t before, std::size_t after, real value) {
  const std::size_t index = normalize_axis("pad", axis, x.rank()), size = x.shape()[index];
  Tensor y = filled(with_size(x.shape(), index, before + size + after), value);
  const Window window = window_of(y.shape(), index, before, size);
  write_window(x.data(), window, y.data());
  return record(
      "pad", std::move(y), {x},
      [x = x.gradient_only(), window](Tensor& gradient) {
        x.add_gradient(window_copy(gradient, x.shape(), window));
      },
      {{x, [&](const Var& d) { return pad(d, axis, before, after); }, TangentRule::linear}});
}

Var gather(const Var& table, const Indices& indices) {
  require(table.rank() == 2, "gather", "the table must be (V, D), not ", table.shape());
  require_indices(indices, table.shape());
  const std::size_t D = table.shape()[1];
  Shape shape = indices.shape;
  shape.push_back(D);
  Tensor y = uninitialized(shape);
  parallel_rows(indices.values.size(), D, [&](std::size_t i) {
    std::copy_n(table.data() + std::size_t(indices.values[i]) * D, D, y.data() + i * D);
  });
  return record("gather", std::move(y), {table},
                [table = table.gradient_only(), index = indices.values](Tensor& gradient) {
                  scatter_add(gradient, index, table.gradient_buffer());
                },
                {{table, [&](const Var& d) { return gather(d, indices); }, TangentRule::linear}});
}

Var broadcast_to(const Var& x, const Shape& shape) {
  require(broadcast_shape("broadcast_to", x.shape(), shape) == shape, "broadcast_to",
          "x does not broadcast to the shape: x ", x.shape(), ", shape ", shape);
  return record("broadcast_to", map(shape, identity, x.value()), {x},
                [x = x.gradient_only()](Tensor& gradient) { x.add_gradient(std::move(gradient)); },
                {{x, [&](const Var& d) { return broadcast_to(d, shape); }, TangentRule::linear}});
}

Var patches(const Var& x, std::size_t length, std::size_t stride) {
  require(x.rank() >= 1 && length >= 1 && stride >= 1 && length <= x.dim(-1), "patches",
          "no windows of length ", length, " and stride ", stride, " in x ", x.shape());
  const Pieces pieces = pieces_of(x.dim(-1), length, stride);
  Shape shape = x.shape();
  shape.back() = pieces.count;
  shape.push_back(length);
  Tensor y = uninitialized(shape);
  parallel_rows(x.size() / pieces.n * pieces.count, length, [&](std::size_t i) {
    const real* row = x.data() + i / pieces.count * pieces.n;
    std::copy_n(row + pieces.begin(i % pieces.count), length, y.data() + i * length);
  });
  return record(
      "patches", std::move(y), {x},
      [x = x.gradient_only(), pieces](Tensor& gradient) {
        add_pieces(gradient, pieces, x.gradient_buffer());
      },
      {{x, [&](const Var& d) { return patches(d, length, stride); }, TangentRule::linear}});
}

}  // namespace bochner::inline BOCHNER_PRECISION
