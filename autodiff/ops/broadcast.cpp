#include <bochner/autodiff/ops/broadcast.hpp>

namespace bochner::inline BOCHNER_PRECISION {

BroadcastWalk::BroadcastWalk(const Shape& result, std::initializer_list<const Shape*> operands) {
  Offsets elements{};  // of each operand on the axes seen so far, the innermost first
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
    const std::size_t position = row % axis.size;
    row /= axis.size;
    for (std::size_t k = 0; k < max_operands; ++k) offsets[k] += position * axis.stride[k];
  }
  return offsets;
}

}  // namespace bochner::inline BOCHNER_PRECISION
