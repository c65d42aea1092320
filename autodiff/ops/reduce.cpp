#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/permute.hpp>
#include <bochner/autodiff/ops/axis_rows.hpp>
#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/autodiff/ops/reduce.hpp>
#include <bochner/autodiff/ops/shape.hpp>
#include <bochner/base/numeric/parallel.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

struct Reduction {
  std::vector<bool> reduced;
  Shape kept_shape;       ///< shape with size 1 for each reduced axis
  Shape shape;            ///< of the result
  std::size_t count = 1;  ///< input elements per result element
};

Reduction reduction_of(const char* op, const Shape& shape, const Axes& axes, Keep keep_axes) {
  Reduction reduction;
  reduction.reduced.assign(shape.size(), axes.empty());
  for (int axis : axes) {
    const std::size_t index = normalize_axis(op, axis, shape.size());
    require(!reduction.reduced[index], op, "axis ", axis, " is repeated");
    reduction.reduced[index] = true;
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool goes = reduction.reduced[axis];
    if (goes) reduction.count *= shape[axis];
    reduction.kept_shape.push_back(goes ? 1 : shape[axis]);
    if (!goes || keep_axes == Keep::yes) {
      reduction.shape.push_back(reduction.kept_shape.back());
    }
  }
  return reduction;
}

/// Returns reduction_of(); throws if there are no elements to reduce.
Reduction filled_reduction_of(const char* op, const Shape& shape, const Axes& axes,
                              Keep keep_axes) {
  const Reduction reduction = reduction_of(op, shape, axes, keep_axes);
  require(reduction.count > 0, op, "needs at least one element: x ", shape);
  return reduction;
}

Var scaled_sum(const char* op, const Var& x, const Reduction& reduction, real factor) {
  Tensor y = uninitialized(reduction.shape);
  sum_axes(x.value(), reduction.reduced, y.data());
  if (factor != 1) update(y, [factor](real s) { return factor * s; });
  return record(op, std::move(y), {x},
                [x = x.gradient_only(), reduction, factor](Tensor& gradient) {
                  gradient.reshape(reduction.kept_shape);
                  x.add_gradient(map(
                      x.shape(), [factor](real g) { return factor * g; }, gradient));
                },
                {{x, [&](const Var& d) { return scaled_sum(op, d, reduction, factor); },
                  TangentRule::linear}});
}

/// Records a reduction by value(row, count) and slope(row, count, y, g, dx) of contiguous rows;
/// permutes other axes to the end and back. `slopes` returns those of all x, given y with the
/// reduced axes.
template <class Value, class Slope, class Slopes>
Var row_reduction(const char* op, const Var& x, const Reduction& reduction, const Value& value,
                  const Slope& slope, const Slopes& slopes) {
  const std::vector<std::size_t> order = kept_axes_first(reduction.reduced);
  const bool in_place = std::is_sorted(order.begin(), order.end());
  const auto rows_of = [order, in_place](const Var& x) {
    return in_place ? x.shared_value() : std::make_shared<const Tensor>(permute(x.value(), order));
  };
  const std::size_t n = reduction.count;
  Tensor y = uninitialized(reduction.shape);
  parallel_rows(y.size(), n, [n, &value, rows = rows_of(x), y = y.data()](std::size_t i) {
    y[i] = value(rows->data() + i * n, n);
  });
  return record(
      op, std::move(y), {x},
      [=](const Tensor& y, Tensor& gradient) {
        const auto rows = rows_of(x);
        Tensor dx = uninitialized(rows->shape());
        parallel_rows(y.size(), n, [&](std::size_t i) {
          slope(rows->data() + i * n, n, y.data()[i], gradient.data()[i], dx.data() + i * n);
        });
        x.add_gradient(in_place ? std::move(dx) : permute(dx, inverse_order(order)));
      },
      {{x, [&](const Var& d, const Var& y) {
          return scaled_sum("sum", d * slopes(reshape(y, reduction.kept_shape)), reduction, 1);
        }}});
}

/// Returns the gradient of max() by x, which is constant almost everywhere.
Var slopes_of_max(const Var& x, const Axes& axes) {
  Tape tape;
  const Var leaf = tape.input(x.value()), y = max(leaf, axes);
  tape.backward(y, filled(y.shape(), 1));
  return Var(gradient_of(leaf));
}

/// Returns the maximum if it is not finite, NaN if an element is, which max_row() detects.
real log_sum_exp(const real* x, std::size_t n) {
  if (n == 0) return -std::numeric_limits<real>::infinity();
  const LogSumExp total = log_sum_exp_row(x, n);
  return std::isfinite(total.largest) ? total.largest + total.log_sum : max_row(x, n);
}

/// Returns the mean of sum(x, count) over parts of a row, joined in double: floats lose terms.
template <class Sum>
real mean_of_parts(const real* x, std::size_t n, const Sum& sum) {
  constexpr std::size_t longest = 1024, of_long = 256;
  const std::size_t part = n > longest ? of_long : longest;
  double total = 0;
  for (std::size_t begin = 0; begin < n; begin += part)
    total += double(sum(x + begin, std::min(part, n - begin)));
  return real(total / double(n));
}

real mean_of_row(const real* x, std::size_t n) { return mean_of_parts(x, n, sum_row); }

real mean_squared_deviation(const real* x, std::size_t n) {
  const real mean = mean_of_row(x, n);
  return mean_of_parts(x, n, [mean](const real* u, std::size_t count) {
    return sum_terms<256>(u, count, [mean](real v) { return (v - mean) * (v - mean); });
  });
}

/// Sums along an axis up to each element, or from it to the end if `reverse`.
Tensor running_sums(const Tensor& x, std::size_t axis, bool reverse) {
  const AxisRows rows(x.shape(), axis);
  Tensor y = uninitialized(x.shape());
  rows.for_each_column([&](std::size_t first) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.n; ++i) {
      const std::size_t at = first + (reverse ? rows.n - 1 - i : i) * rows.inner;
      y.data()[at] = real(sum += double(x.data()[at]));
    }
  });
  return y;
}

}  // namespace

Var sum(const Var& x, const Axes& axes, Keep keep_axes) {
  return scaled_sum("sum", x, reduction_of("sum", x.shape(), axes, keep_axes), 1);
}

Var mean(const Var& x, const Axes& axes, Keep keep_axes) {
  const Reduction reduction = filled_reduction_of("mean", x.shape(), axes, keep_axes);
  return scaled_sum("mean", x, reduction, 1 / real(reduction.count));
}

Var max(const Var& x, const Axes& axes, Keep keep_axes) {
  return row_reduction(
      "max", x, filled_reduction_of("max", x.shape(), axes, keep_axes), max_row,
      [](const real* row, std::size_t n, real y, real g, real* dx) {
        std::fill_n(dx, n, real(0));
        std::size_t first = 0;
        while (row[first] != y && row[first] == row[first]) ++first;
        dx[first] = g;
      },
      [&](const Var&) { return slopes_of_max(x, axes); });
}

Var logsumexp(const Var& x, const Axes& axes, Keep keep_axes) {
  return row_reduction(
      "logsumexp", x, reduction_of("logsumexp", x.shape(), axes, keep_axes), log_sum_exp,
      [](const real* row, std::size_t n, real y, real g, real* dx) {
        const bool nothing = y == -std::numeric_limits<real>::infinity();
        for (std::size_t j = 0; j < n; ++j) {
          dx[j] = nothing ? real(0) : g * math::exp(row[j] - y);
        }
      },
      [&](const Var& y) { return exp(x - y); });
}

Var variance(const Var& x, const Axes& axes, Keep keep_axes) {
  const Reduction reduction = filled_reduction_of("variance", x.shape(), axes, keep_axes);
  return row_reduction(
      "variance", x, reduction, mean_squared_deviation,
      [](const real* row, std::size_t n, real, real g, real* dx) {
        const real mean = mean_of_row(row, n), factor = 2 * g / real(n);
        for (std::size_t j = 0; j < n; ++j) dx[j] = factor * (row[j] - mean);
      },
      [&](const Var&) { return (x - mean(x, axes, keep)) * (2 / double(reduction.count)); });
}

Var cumsum(const Var& x, int axis) {
  const std::size_t index = normalize_axis("cumsum", axis, x.rank());
  return record("cumsum", running_sums(x.value(), index, false), {x},
                [x = x.gradient_only(), index](Tensor& gradient) {
                  x.add_gradient(running_sums(gradient, index, true));
                },
                {{x, [&](const Var& d) { return cumsum(d, axis); }, TangentRule::linear}});
}

}  // namespace bochner::inline BOCHNER_PRECISION
