#include <bochner/base/join.hpp>
#include <bochner/base/shape.hpp>
#include <sstream>
#include <stdexcept>

namespace bochner {

std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (std::size_t size : shape) count *= size;
  return count;
}

std::size_t normalize_axis(const char* op, int axis, std::size_t rank) {
  const int positive = axis < 0 ? axis + static_cast<int>(rank) : axis;
  require(positive >= 0 && positive < static_cast<int>(rank), op, "no axis ", axis,
          " in an array of rank ", rank);
  return static_cast<std::size_t>(positive);
}

std::size_t axis_size(const Shape& shape, int axis) {
  return shape[normalize_axis("shape", axis, shape.size())];
}

Shape without_last(const Shape& shape, std::size_t count) {
  return Shape(shape.begin(), shape.end() - std::ptrdiff_t(count));
}

std::size_t row_count(const Shape& shape) {
  return shape.back() == 0 ? 0 : element_count(without_last(shape));
}

Shape with_last(Shape shape, std::size_t size) {
  shape.back() = size;
  return shape;
}

Shape broadcast_shape(const char* op, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    const std::size_t x = longer[offset + axis], y = shorter[axis];
    require(x == y || x == 1 || y == 1, op, "shapes do not broadcast: a ", a, ", b ", b);
    result[offset + axis] = x == 1 ? y : x;
  }
  return result;
}

std::string to_string(const Shape& shape) { return '(' + joined(shape) + ')'; }

void detail::refuse(const char* op, std::initializer_list<Part> parts) {
  std::ostringstream message;
  message << "[" << op << "] ";
  for (const Part& part : parts) {
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<decltype(value), const Shape* const&>) {
            message << to_string(*value);
          } else {
            message << value;
          }
        },
        part);
  }
  throw std::invalid_argument(message.str());
}

}  // namespace bochner
