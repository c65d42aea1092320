#pragma once
/// Elementwise functions y[i] = f(a[i], b[i], ..) over broadcast arrays.

#include <array>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/base/independent_loop.hpp>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// Iterates over broadcast operands in rows. Merges axes on which all operands repeat or all
/// advance, so that equal shapes are one row and a bias is one row per repetition.
class BroadcastWalk {
 public:
  static constexpr std::size_t max_operands = 3;
  using Offsets = std::array<std::size_t, max_operands>;

  BroadcastWalk(const Shape& result, std::initializer_list<const Shape*> operands);
  std::size_t rows() const { return rows_; }
  std::size_t row_size() const { return row_size_; }
  /// Returns whether the operand advances within a row (or else repeats one element).
  bool advances(std::size_t operand) const { return advance_[operand]; }
  /// Returns the offset of each operand at the start of a row.
  Offsets offsets(std::size_t row) const;

 private:
  struct Axis {
    std::size_t size;
    Offsets stride;
  };
  std::vector<Axis> outer_;
  std::array<bool, max_operands> advance_{};
  std::size_t rows_ = 1, row_size_ = 1;
};

namespace detail {

/// Computes y[i] = f(x[0][i], x[1][i], ..) for i < count; y may be one of the operands.
using ElementLoop = std::function<void(real* y, const real* const* x, std::size_t count)>;

/// Calls the loop for pieces of the rows of y, in parallel.
void map_rows(const BroadcastWalk& walk, real* y, std::initializer_list<const real*> operands,
              const ElementLoop& loop);

/// Returns the loop of f for constant steps of the operands, 0 or 1, so that it vectorises.
template <std::size_t... Step, class Function>
ElementLoop loop_of(const Function& f) {
  return [&f](real* y, const real* const* x, std::size_t count) {
    const auto run = [&]<std::size_t... K>(std::index_sequence<K...>) {
      // No dependence between iterations, even where y is an operand.
      BOCHNER_INDEPENDENT_LOOP
      for (std::size_t i = 0; i < count; ++i) y[i] = f(x[K][i * Step]...);
    };
    run(std::make_index_sequence<sizeof...(Step)>());
  };
}

/// Returns the loop with `Left` more operands, whose steps come from the walk.
template <std::size_t Left, std::size_t... Step, class Function>
ElementLoop loop_along(const BroadcastWalk& walk, const Function& f) {
  if constexpr (Left == 0) {
    return loop_of<Step...>(f);
  } else {
    return walk.advances(sizeof...(Step)) ? loop_along<Left - 1, Step..., 1>(walk, f)
                                          : loop_along<Left - 1, Step..., 0>(walk, f);
  }
}

}  // namespace detail

/// Returns f of operands that broadcast to `shape`.
template <class Function, class... Operands>
Tensor map(const Shape& shape, const Function& f, const Operands&... x) {
  Tensor y = uninitialized(shape);
  const BroadcastWalk walk(shape, {&x.shape()...});
  detail::map_rows(walk, y.data(), {x.data()...}, detail::loop_along<sizeof...(x)>(walk, f));
  return y;
}

/// Computes y = f(y, x..) in place, for x.. that broadcast to y.
template <class Function, class... Operands>
void update(Tensor& y, const Function& f, const Operands&... x) {
  const BroadcastWalk walk(y.shape(), {&y.shape(), &x.shape()...});
  detail::map_rows(walk, y.data(), {y.data(), x.data()...},
                   detail::loop_along<sizeof...(x), 1>(walk, f));
}

/// Returns f(x) by element: one loop to compile where map() has two.
template <class Function>
Tensor map_each(const Function& f, const Tensor& x) {
  Tensor y = uninitialized(x.shape());
  const BroadcastWalk walk(x.shape(), {&x.shape()});
  detail::map_rows(walk, y.data(), {x.data()}, detail::loop_of<1>(f));
  return y;
}

/// Computes y = f(y, x) in place, for equal shapes.
template <class Function>
void update_each(Tensor& y, const Function& f, const Tensor& x) {
  const BroadcastWalk walk(y.shape(), {&y.shape(), &x.shape()});
  detail::map_rows(walk, y.data(), {y.data(), x.data()}, detail::loop_of<1, 1>(f));
}

}  // namespace bochner::inline BOCHNER_PRECISION
