#pragma once
/// Shape, Indices and require(): sizes of arrays of any element, and what is wrong with them in
/// words. Light: it includes no array.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
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
/// Without the last `count` axes.
Shape without_last(const Shape& shape, std::size_t count = 1);
/// Rows along the last axis, none where they are empty.
std::size_t row_count(const Shape& shape);
/// With another size of the last axis.
Shape with_last(Shape shape, std::size_t size);
/// NumPy's broadcasting rule; throws with both shapes when they do not fit.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);
/// "(16, 256, 128)"
std::string to_string(const Shape& shape);

namespace detail {
/// A part of a message, by reference: what is refused is put into words elsewhere.
using Part = std::variant<std::string_view, const Shape*, double, std::int64_t, std::uint64_t>;
inline Part part_of(std::string_view text) { return text; }
inline Part part_of(const Shape& shape) { return &shape; }
inline Part part_of(double value) { return value; }
inline Part part_of(std::signed_integral auto value) { return std::int64_t(value); }
inline Part part_of(std::unsigned_integral auto value) { return std::uint64_t(value); }
[[noreturn]] void refuse(const char* op, std::initializer_list<Part> parts);
}  // namespace detail

/// Throws std::invalid_argument "[op] parts..." unless the condition holds.
template <class... Parts>
void require(bool condition, const char* op, const Parts&... parts) {
  if (!condition) detail::refuse(op, {detail::part_of(parts)...});
}

/// Tokens of sequence b, which are T where there are no lengths (B).
inline std::size_t length_of(const std::vector<std::size_t>& lengths, std::size_t b,
                             std::size_t T) {
  return lengths.empty() ? T : lengths[b];
}

/// Throws unless there are no lengths, or one of at most T for each sequence of values (B, T, ..),
/// which errors call by their name.
inline void require_lengths(const char* op, const std::vector<std::size_t>& lengths,
                            const Shape& values, const char* name = "v") {
  require(lengths.empty() || lengths.size() == values[0], op,
          "one length per sequence: ", lengths.size(), " lengths, ", name, " ", values);
  for (const std::size_t length : lengths)
    require(length <= values[1], op, "a length of ", length, " exceeds T of ", name, " ", values);
}

}  // namespace bochner
