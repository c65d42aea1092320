#include <bochner/autodiff/compute/ordered_sums.hpp>
#include <bochner/autodiff/compute/permute.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

/// Returns whether `from` reduces to `to` by leading axes and axes where `to` has size 1.
bool sums_down(const Shape& from, const Shape& to) {
  return from.size() >= to.size() &&
         std::equal(to.begin(), to.end(), from.end() - std::ptrdiff_t(to.size()),
                    [](std::size_t n, std::size_t of_sum) { return n == of_sum || n == 1; });
}

/// Elements per partial sum; determines the bits of sums.
constexpr std::size_t summed_grain = 32768;

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

/// Computes y[i] = sum over j of x[i, j].
void sum_rows(const real* x, std::size_t rows, std::size_t row_size, real* y) {
  if (row_size <= summed_grain) {
    parallel_rows(rows, row_size,
                  [=](std::size_t i) { y[i] = sum_row(x + i * row_size, row_size); });
    return;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const real* row = x + i * row_size;
    y[i] = real(
        parallel_sum<double>(row_size, summed_grain, [row](std::size_t begin, std::size_t end) {
          return double(sum_row(row + begin, end - begin));
        }));
  }
}

/// Computes y[i, k] = sum over j of x[i, j, k].
void sum_slabs(const real* x, std::size_t slabs, std::size_t rows, std::size_t columns, real* y) {
  std::fill_n(y, slabs * columns, real(0));
  const auto sum_slab = [=](std::size_t i) {
    accumulate_columns(x + i * rows * columns, rows, columns, y + i * columns);
  };
  if (rows * columns <= summed_grain) return parallel_rows(slabs, rows * columns, sum_slab);
  for (std::size_t i = 0; i < slabs; ++i) sum_slab(i);
}

}  // namespace

double sum_of_squares(const real* x, std::size_t n) {
  return parallel_sum<double>(n, summed_grain, [x](std::size_t begin, std::size_t end) {
    return square_row(x + begin, end - begin);
  });
}

bool all_finite(const real* x, std::size_t n) {
  return parallel_sum<double>(n, summed_grain, [x](std::size_t begin, std::size_t end) {
           return finite_row(x + begin, end - begin) ? 0.0 : 1.0;
         }) == 0;
}

void accumulate_columns(const real* x, std::size_t rows, std::size_t columns, real* y) {
  if (rows == 0 || columns == 0) return;
  const std::size_t grain = std::max<std::size_t>(64, summed_grain / columns);
  const std::size_t chunks = ceil_div(rows, grain);
  if (chunks == 1) return add_rows(x, rows, columns, y);
  Storage partial(chunks * columns);
  parallel_for(rows, grain, [&](std::size_t begin, std::size_t end) {
    real* sum = partial.data() + begin / grain * columns;
    std::fill_n(sum, columns, real(0));
    add_rows(x + begin * columns, end - begin, columns, sum);
  });
  add_rows(partial.data(), chunks, columns, y);
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
  require(sums_down(x.shape(), shape), "gradient", "a contribution ", x.shape(),
          " does not reduce to ", shape, ", the shape of its value");
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
