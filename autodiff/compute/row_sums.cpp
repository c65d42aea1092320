#include <bochner/autodiff/compute/fixed_lanes.hpp>
#include <bochner/autodiff/compute/row_sums.hpp>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

constexpr std::size_t sum_lanes = 16, square_lanes = 8;
using Lanes = FixedLanes<real, sum_lanes>;

constexpr auto add = [](auto a, auto b) { return a + b; };
/// Returns the larger one; NaN if either is.
constexpr auto larger = [](auto a, auto b) { return ((b > a) | (b != b)) ? b : a; };

/// Returns lane sums of term(x_j..) over n elements of rows x; term(filling..) = 0.
template <class SumLanes, class Term, class... Rows>
inline SumLanes lanes_of_sum(std::size_t n, real filling, const Term& term, const Rows*... x) {
  constexpr std::size_t lanes = SumLanes::width * SumLanes::vectors;
  SumLanes sum = {};
  const auto add_terms = [&](const auto&... values) {
    sum = SumLanes::map([&](std::size_t v) { return sum.part[v] + term(values.part[v]...); });
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) add_terms(SumLanes::at(x + i)...);
  if (i < n) add_terms(SumLanes::first(x + i, n - i, filling)...);
  return sum;
}
template <class SumLanes, class Term, class... Rows>
inline auto sum_in_lanes(std::size_t n, real filling, const Term& term, const Rows*... x) {
  return join_lanes(lanes_of_sum<SumLanes>(n, filling, term, x...), add);
}

/// Calls take(lanes) over n >= 1 elements of x; pads the last lanes with the first element.
template <class Take>
inline void take_in_lanes(const real* x, std::size_t n, const Take& take) {
  std::size_t i = 0;
  for (; i + sum_lanes <= n; i += sum_lanes) take(Lanes::at(x + i));
  if (i < n) take(Lanes::first(x + i, n - i, x[0]));
}

constexpr auto itself = [](auto u) { return u; };
constexpr auto times = [](auto u, auto v) { return u * v; };
constexpr auto larger_number = [](auto a, auto b) { return b > a ? b : a; };

inline Lanes lanes_of_largest_number(const real* x, std::size_t n) {
  Lanes top = Lanes::filled(x[0]);
  take_in_lanes(x, n, [&](const Lanes& u) {
    top = Lanes::map([&](std::size_t v) { return larger_number(top.part[v], u.part[v]); });
  });
  return top;
}

/// Writes to y_i the joined lanes of row i of n elements, as many rows at a time as a vector has
/// lanes. If elements are left over, rows are joined one by one, which is faster then.
template <class LanesOfRow, class Join>
inline void join_each_row(std::size_t rows, std::size_t n, const LanesOfRow& lanes_of_row,
                          const Join& join, real* y) {
  constexpr std::size_t width = Lanes::width;
  std::size_t i = 0;
  for (; i + width <= rows && n % sum_lanes == 0; i += width) {
    Lanes each[width];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < width; ++r) each[r] = lanes_of_row(i + r);
    lanes_at(y + i) = join_lanes_of_rows(each, join);
  }
  for (; i < rows; ++i) y[i] = join_lanes(lanes_of_row(i), join);
}

}  // namespace

real sum_row(const real* x, std::size_t n) { return sum_in_lanes<Lanes>(n, 0, itself, x); }

real dot_row(const real* x, const real* y, std::size_t n) {
  return sum_in_lanes<Lanes>(n, 0, times, x, y);
}

void sum_each_row(std::size_t rows, std::size_t n, const real* x, std::size_t stride, real* sums) {
  const auto lanes = [=](std::size_t i) {
    return lanes_of_sum<Lanes>(n, 0, itself, x + i * stride);
  };
  join_each_row(rows, n, lanes, add, sums);
}

void dot_each_row(std::size_t rows, std::size_t n, const real* x, std::size_t x_stride,
                  const real* y, std::size_t y_stride, real* sums) {
  const auto lanes = [=](std::size_t i) {
    return lanes_of_sum<Lanes>(n, 0, times, x + i * x_stride, y + i * y_stride);
  };
  join_each_row(rows, n, lanes, add, sums);
}

void largest_of_each_row(std::size_t rows, std::size_t n, const real* x, std::size_t stride,
                         real* largest) {
  const auto lanes = [=](std::size_t i) { return lanes_of_largest_number(x + i * stride, n); };
  join_each_row(rows, n, lanes, larger_number, largest);
}

real spread_row(const real* x, std::size_t n, real centre) {
  const auto square = [centre](auto u) { return (u - centre) * (u - centre); };
  return sum_in_lanes<Lanes>(n, centre, square, x);
}

double square_row(const real* x, std::size_t n) {
  return sum_in_lanes<FixedLanes<double, square_lanes>>(
      n, 0, [](auto u) { return u * u; }, x);
}

bool finite_row(const real* x, std::size_t n) {
  return sum_in_lanes<Lanes>(
             n, 0, [](auto u) { return u - u; }, x) == 0;
}

real max_row(const real* x, std::size_t n) {
  // The max instruction loses NaN, so NaN are tracked separately.
  Lanes top = Lanes::filled(x[0]), bad = top;
  take_in_lanes(x, n, [&](const Lanes& u) {
    top = Lanes::map(
        [&](std::size_t v) { return u.part[v] > top.part[v] ? u.part[v] : top.part[v]; });
    bad =
        Lanes::map([&](std::size_t v) { return u.part[v] != u.part[v] ? u.part[v] : bad.part[v]; });
  });
  return join_lanes(Lanes::map([&](std::size_t v) { return larger(top.part[v], bad.part[v]); }),
                    larger);
}

real max_of_numbers(const real* x, std::size_t n) {
  return join_lanes(lanes_of_largest_number(x, n), larger_number);
}

}  // namespace bochner::inline BOCHNER_PRECISION
