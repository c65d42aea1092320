#include <bochner/autodiff/ops/broadcast.hpp>
#include <bochner/base/numeric/parallel.hpp>

namespace bochner::inline BOCHNER_PRECISION {

BroadcastWalk::BroadcastWalk(const Shape& result, std::initializer_list<const Shape*> operands) {
  Offsets elements{};  // of each operand on the axes so far, innermost first
  elements.fill(1);
  std::vector<Axis> axes;
  std::array<bool, max_operands> previous{};
  for (std::size_t back = 1; back <= result.size(); ++back) {
    const std::size_t size = result[result.size() - back];
    if (size == 1) continue;
    Axis axis{size, {}};
    std::array<bool, max_operands> advance{};
    std::size_t operand = 0;
    for (const Shape* shape : operands) {
      advance[operand] = back <= shape->size() && (*shape)[shape->size() - back] != 1;
      if (advance[operand]) {
        axis.stride[operand] = elements[operand];
        elements[operand] *= size;
      }
      ++operand;
    }
    if (!axes.empty() && advance == previous) {
      axes.back().size *= size;
    } else {
      axes.push_back(axis);
    }
    previous = advance;
  }
  if (axes.empty()) return;
  row_size_ = axes[0].size;
  for (std::size_t k = 0; k < max_operands; ++k) advance_[k] = axes[0].stride[k] != 0;
  outer_.assign(axes.begin() + 1, axes.end());
  for (const Axis& axis : outer_) rows_ *= axis.size;
}

BroadcastWalk::Offsets BroadcastWalk::offsets(std::size_t row) const {
  Offsets offsets{};
  for (const Axis& axis : outer_) {
    // A division costs as much as a short row; the outermost axis needs none.
    const std::size_t rest = row < axis.size ? 0 : row / axis.size;
    const std::size_t position = row - rest * axis.size;
    for (std::size_t k = 0; k < max_operands; ++k) offsets[k] += position * axis.stride[k];
    row = rest;
  }
  return offsets;
}

void detail::map_rows(const BroadcastWalk& walk, real* y,
                      std::initializer_list<const real*> operands, const ElementLoop& loop) {
  parallel_pieces(walk.rows(), walk.row_size(),
                  [&](std::size_t row, std::size_t column, std::size_t count) {
                    const BroadcastWalk::Offsets offsets = walk.offsets(row);
                    std::array<const real*, BroadcastWalk::max_operands> x;
                    for (std::size_t k = 0; k < operands.size(); ++k)
                      x[k] = operands.begin()[k] + offsets[k] + (walk.advances(k) ? column : 0);
                    loop(y + row * walk.row_size() + column, x.data(), count);
                  });
}

}  // namespace bochner::inline BOCHNER_PRECISION
