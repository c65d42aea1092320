#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/parallel.hpp>
#include <bochner/autodiff/compute/permute.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t lanes = 16;
typedef real Lanes
    __attribute__((vector_size(lanes * sizeof(real)), aligned(alignof(real)), may_alias));

inline Lanes lanes_at(const real* x) { return *reinterpret_cast<const Lanes*>(x); }

/// The last elements, fewer than there are lanes; the others are `filling`.
inline Lanes last_lanes(const real* x, std::size_t n, real filling) {
  Lanes y = Lanes{} + filling;
  for (std::size_t i = 0; i < n; ++i) y[i] = x[i];
  return y;
}

/// Joins the lanes as a tree: halves, quarters, ...
template <class Join>
inline real join_lanes(const Lanes& x, const Join& join) {
  const auto eight = join(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7),
                          __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
  const auto four = join(__builtin_shufflevector(eight, eight, 0, 1, 2, 3),
                         __builtin_shufflevector(eight, eight, 4, 5, 6, 7));
  const auto two =
      join(__builtin_shufflevector(four, four, 0, 1), __builtin_shufflevector(four, four, 2, 3));
  return join(two[0], two[1]);
}

constexpr auto add = [](const auto& a, const auto& b) { return a + b; };
/// NaN if one of them is.
constexpr auto larger = [](const auto& a, const auto& b) { return (b > a) | (b != b) ? b : a; };

/// Neighbouring axes that are all reduced or all kept.
struct AxisGroup {
  std::size_t size;
  bool reduced;
};

std::vector<AxisGroup> groups_of(const Shape& shape, const std::vector<bool>& reduced) {
  std::vector<AxisGroup> groups;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    if (!groups.empty() && groups.back().reduced == reduced[axis]) {
      groups.back().size *= shape[axis];
    } else {
      groups.push_back({shape[axis], reduced[axis]});
    }
  }
  return groups;
}

/// y[i] = sum over j of x[i, j].
void sum_rows(const real* x, std::size_t rows, std::size_t row_size, real* y) {
  if (row_size <= elementwise_grain) {
    parallel_rows(rows, row_size,
                  [=](std::size_t i) { y[i] = sum_row(x + i * row_size, row_size); });
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const real* row = x + i * row_size;
    y[i] = real(parallel_sum<double>(row_size, elementwise_grain,
                                     [row](std::size_t begin, std::size_t end) {
                                       return double(sum_row(row + begin, end - begin));
                                     }));
  }
}

/// y[i, k] = sum over j of x[i, j, k].
void sum_slabs(const real* x, std::size_t slabs, std::size_t rows, std::size_t columns, real* y) {
  std::fill_n(y, slabs * columns, real(0));
  const auto sum_slab = [=](std::size_t i) {
    accumulate_columns(x + i * rows * columns, rows, columns, y + i * columns);
  };
  if (rows * columns <= elementwise_grain) return parallel_rows(slabs, rows * columns, sum_slab);
  for (std::size_t i = 0; i < slabs; ++i) sum_slab(i);
}

}  // namespace

real sum_row(const real* x, std::size_t n) {
  Lanes sum = {};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) sum += lanes_at(x + i);
  if (i < n) sum += last_lanes(x + i, n - i, 0);
  return join_lanes(sum, add);
}

real dot_row(const real* x, const real* y, std::size_t n) {
  Lanes sum = {};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) sum += lanes_at(x + i) * lanes_at(y + i);
  if (i < n) sum += last_lanes(x + i, n - i, 0) * last_lanes(y + i, n - i, 0);
  return join_lanes(sum, add);
}

real max_row(const real* x, std::size_t n) {
  Lanes top = Lanes{} + x[0];
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) top = larger(top, lanes_at(x + i));
  if (i < n) top = larger(top, last_lanes(x + i, n - i, x[0]));
  return join_lanes(top, larger);
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

void sum_axes(const Tensor& x, const std::vector<bool>& reduced, real* y) {
  const std::vector<AxisGroup> groups = groups_of(x.shape(), reduced);
  std::size_t results = 1;
  for (const AxisGroup& group : groups) results *= group.reduced ? 1 : group.size;
  if (x.size() == 0) {
    std::fill_n(y, results, real(0));
  } else if (groups.empty() || (groups.size() == 1 && !groups[0].reduced)) {
    std::copy_n(x.data(), x.size(), y);
  } else if (groups.back().reduced && groups.size() <= 2) {
    sum_rows(x.data(), results, x.size() / results, y);
  } else if (groups.size() <= 3 && !groups.back().reduced) {
    const std::size_t columns = groups.back().size;
    sum_slabs(x.data(), results / columns, x.size() / results, columns, y);
  } else {
    const Tensor rows = permute(x, kept_axes_first(reduced));
    sum_rows(rows.data(), results, x.size() / results, y);
  }
}

Tensor sum_repeats(const std::vector<double>& x, const Shape& shape) {
  Tensor total = uninitialized(shape);
  for (std::size_t i = 0; i < total.size(); ++i) {
    double sum = 0;
    for (std::size_t from = i; from < x.size(); from += total.size()) sum += x[from];
    total.data()[i] = real(sum);
  }
  return total;
}

Tensor sum_to_shape(const Tensor& x, const Shape& shape) {
  const std::size_t offset = x.dimension() - shape.size();
  std::vector<bool> reduced(x.dimension(), true);
  for (std::size_t axis = offset; axis < x.dimension(); ++axis) {
    reduced[axis] = x.shape()[axis] != shape[axis - offset];
  }
  Tensor result = uninitialized(shape);
  sum_axes(x, reduced, result.data());
  return result;
}

}  // namespace bochner::inline BOCHNER_PRECISION
