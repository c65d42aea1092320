#pragma once
/// Shape, Indices and require(): sizes of arrays of any element, and what is wrong with them in
/// words. Light: it includes no array.

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>
#include <xtensor/xstorage.hpp>

namespace bochner {

using Shape = xt::svector<std::size_t, 4>;

/// Integers that select rows: tokens, class labels.
struct Indices {
  Shape shape;
  std::vector<std::int32_t> values;
};

/// Product of the sizes; 1 for a scalar.
std::size_t element_count(const Shape& shape);
/// Size of an axis; negative axes count from the back. Throws when there is no such axis.
std::size_t axis_size(const Shape& shape, int axis);
/// 0 <= result < rank for an axis that may be negative. Throws when there is no such axis.
std::size_t normalize_axis(const char* op, int axis, std::size_t rank);
/// NumPy's broadcasting rule; throws with both shapes when they do not fit.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);
/// "(16, 256, 128)"
std::string to_string(const Shape& shape);

namespace detail {
template <class Part>
void print(std::ostream& out, const Part& part) {
  if constexpr (std::is_same_v<std::decay_t<Part>, Shape>) {
    out << to_string(part);
  } else {
    out << part;
  }
}
}  // namespace detail

/// Throws std::invalid_argument "[op] parts..." unless the condition holds.
template <class... Parts>
void require(bool condition, const char* op, const Parts&... parts) {
  if (condition) return;
  std::ostringstream message;
  message << "[" << op << "] ";
  (detail::print(message, parts), ...);
  throw std::invalid_argument(message.str());
}

}  // namespace bochner
