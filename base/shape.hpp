#pragma once
/// Shape, Indices and require(). Includes no array library.

#include <bochner/base/xtensor_storage.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bochner {

using Shape = xt::svector<std::size_t, 4>;

/// Integers that select rows: tokens or class labels.
struct Indices {
  Shape shape;
  std::vector<std::int32_t> values;
};

/// Returns the product of the sizes; 1 for a scalar.
std::size_t element_count(const Shape& shape);
/// Returns the size of an axis; negative axes count from the back. Throws if there is no such axis.
std::size_t axis_size(const Shape& shape, int axis);
/// Maps an axis that may be negative to [0, rank). Throws if there is no such axis.
std::size_t normalize_axis(const char* op, int axis, std::size_t rank);
/// Returns the shape without its last `count` axes.
Shape without_last(const Shape& shape, std::size_t count = 1);
/// Returns the number of rows along the last axis; 0 if rows are empty.
std::size_t row_count(const Shape& shape);
/// Returns the shape with another size of the last axis.
Shape with_last(Shape shape, std::size_t size);
/// Applies NumPy's broadcasting rule; throws with both shapes if they do not fit.
Shape broadcast_shape(const char* op, const Shape& a, const Shape& b);
/// Formats a shape as "(16, 256, 128)".
std::string to_string(const Shape& shape);

namespace detail {
/// A part of a message, held by reference and formatted only on failure.
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

/// Returns the number of tokens of sequence b; T if there are no lengths (B).
inline std::size_t length_of(const std::vector<std::size_t>& lengths, std::size_t b,
                             std::size_t T) {
  return lengths.empty() ? T : lengths[b];
}

/// Throws unless `lengths` is empty or has one entry <= T per sequence of values (B, T, ..). `name`
/// names `values` in the error.
inline void require_lengths(const char* op, const std::vector<std::size_t>& lengths,
                            const Shape& values, const char* name = "v") {
  require(lengths.empty() || lengths.size() == values[0], op,
          "one length per sequence: ", lengths.size(), " lengths, ", name, " ", values);
  for (const std::size_t length : lengths)
    require(length <= values[1], op, "a length of ", length, " exceeds T of ", name, " ", values);
}

}  // namespace bochner
