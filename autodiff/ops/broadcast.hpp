#pragma once
/// y[i] = f(a[i], b[i], ..) over arrays that broadcast: what elementwise ops are made of.

#include <array>
#include <bochner/autodiff/compute/parallel_rows.hpp>
#include <bochner/autodiff/tensor.hpp>
#include <vector>

namespace bochner::inline BOCHNER_PRECISION {

/// How operands that broadcast to one shape are walked in rows: axes on which all operands repeat
/// or all advance are merged, so that equal shapes are one row and a bias is one row per
/// repetition.
class BroadcastWalk {
 public:
  static constexpr std::size_t max_operands = 3;
  using Offsets = std::array<std::size_t, max_operands>;

  BroadcastWalk(const Shape& result, std::initializer_list<const Shape*> operands);
  std::size_t rows() const { return rows_; }
  std::size_t row_size() const { return row_size_; }
  /// Whether the operand advances within a row (or else repeats one element).
  bool advances(std::size_t operand) const { return advance_[operand]; }
  /// Where each operand's row begins.
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

/// Hands the loop its steps, 0 or 1 each, as constants, so that it vectorises.
template <std::size_t Left, class Loop, class... Steps>
void with_steps(const BroadcastWalk& walk, const Loop& loop, Steps... steps) {
  if constexpr (Left == 0) {
    loop(steps...);
  } else if (walk.advances(sizeof...(Steps))) {
    with_steps<Left - 1>(walk, loop, steps..., std::integral_constant<std::size_t, 1>());
  } else {
    with_steps<Left - 1>(walk, loop, steps..., std::integral_constant<std::size_t, 0>());
  }
}

template <class Function, std::size_t... K, class... Operands>
void map_into(Tensor& y, const Function& f, std::index_sequence<K...>, const Operands&... x) {
  const BroadcastWalk walk(y.shape(), {&x.shape()...});
  real* const to = y.data();
  with_steps<sizeof...(K)>(walk, [&](auto... step) {
    parallel_pieces(
        walk.rows(), walk.row_size(), [&](std::size_t row, std::size_t column, std::size_t count) {
          const auto offset = walk.offsets(row);
          real* const result = to + row * walk.row_size() + column;
          const std::array<const real*, sizeof...(K)> from{x.data() + offset[K] +
                                                           column * decltype(step)::value...};
// y may be an operand, element for element: nothing is carried between iterations.
#pragma GCC ivdep
          for (std::size_t i = 0; i < count; ++i) {
            result[i] = f(from[K][i * decltype(step)::value]...);
          }
        });
  });
}

}  // namespace detail

/// f of operands that broadcast to `shape`.
template <class Function, class... Operands>
Tensor map(const Shape& shape, const Function& f, const Operands&... x) {
  Tensor y = uninitialized(shape);
  detail::map_into(y, f, std::index_sequence_for<Operands...>(), x...);
  return y;
}

/// y = f(y, x..), in place, with x.. that broadcast to y.
template <class Function, class... Operands>
void update(Tensor& y, const Function& f, const Operands&... x) {
  detail::map_into(y, f, std::index_sequence_for<Tensor, Operands...>(), y, x...);
}

}  // namespace bochner::inline BOCHNER_PRECISION
