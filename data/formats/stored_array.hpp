#pragma once
/// Arrays of numbers as they lie in a file, whatever its format.

#include <bochner/data/files/gzip.hpp>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include <xtensor/xarray.hpp>

namespace bochner {

/// What an element is: kind 'f' (float), 'i', 'u' (integers) or 'b' (bool), of 1 to 8 bytes.
struct ElementType {
  char kind = 'f';
  std::size_t size = 8;
  bool big_endian = false;
};

/// The name in NumPy: "float32", "uint8", "bool".
std::string to_string(const ElementType& type);
/// Of such a name. Throws std::invalid_argument with the names when there is none of this one.
ElementType element_type(const std::string& name);
/// The names above, in one line.
std::string element_type_names();

/// Calls `action` with a zero of the type.
template <class Action>
void with_type(const ElementType& type, const Action& action) {
  const auto sized = [&](auto one, auto two, auto four, auto eight) {
    type.size == 1   ? action(one)
    : type.size == 2 ? action(two)
    : type.size == 4 ? action(four)
                     : action(eight);
  };
  if (type.kind == 'b') return action(false);
  if (type.kind == 'i') return sized(std::int8_t(), std::int16_t(), std::int32_t(), std::int64_t());
  if (type.kind == 'u')
    return sized(std::uint8_t(), std::uint16_t(), std::uint32_t(), std::uint64_t());
  type.size == 4 ? action(float()) : action(double());
}

/// What the header of a file claims about its elements.
struct StoredLayout {
  ElementType type;
  bool by_columns = false;  ///< Fortran order: the first axis runs fastest
  std::vector<std::size_t> shape;
  std::size_t data_begin = 0;  ///< byte of the file at which the elements begin

  /// Product of the sizes, which add_axis() keeps from overflowing.
  std::size_t elements() const;
  /// Bytes of the whole file.
  std::uint64_t file_size() const { return data_begin + std::uint64_t(elements()) * type.size; }
  /// False, and nothing done, beyond 2^60 elements or 32 axes.
  bool add_axis(std::size_t size);
};

/// "(2, 3)", "(4,)", "()", as in Python.
std::string shape_text(const std::vector<std::size_t>& shape);

/// An array that lies in the bytes of a file, which must outlive it: floats, integers and
/// bools, either byte order, either memory order, any shape. Throws DataError unless the bytes hold
/// exactly the elements that the layout claims; nothing is allocated.
class StoredArray {
 public:
  StoredArray(StoredLayout layout, ByteSpan file, const std::string& name);

  const ElementType& type() const { return layout_.type; }
  const std::vector<std::size_t>& shape() const { return layout_.shape; }
  std::size_t size() const { return layout_.elements(); }

  /// The elements where they lie, in row-major order; nothing where they would have to be copied:
  /// another type, order or alignment.
  template <class Number>
  std::optional<std::span<const Number>> elements() const {
    if (!holds_in_place(std::floating_point<Number>    ? 'f'
                        : std::signed_integral<Number> ? 'i'
                                                       : 'u',
                        sizeof(Number)))
      return std::nullopt;
    return std::span(reinterpret_cast<const Number*>(data_.data()), size());
  }
  /// All elements as doubles. Throws DataError for an integer that no double equals.
  xt::xarray<double> values() const;

 private:
  bool holds_in_place(char kind, std::size_t bytes) const;
  std::size_t position(std::size_t index) const;
  template <class Stored>
  void copy_to(double* out) const;

  std::string name_;
  StoredLayout layout_;
  ByteSpan data_;
};

}  // namespace bochner
