#pragma once
/// Arrays of numbers stored in a file of any format.

#include <bochner/base/xtensor.hpp>
#include <bochner/data/files/gzip.hpp>
#include <concepts>
#include <optional>

namespace bochner {

/// Type of an element: kind 'f' (float), 'i', 'u' (integers) or 'b' (bool), of 1 to 8 bytes.
struct ElementType {
  char kind = 'f';
  std::size_t size = 8;
  bool big_endian = false;
};

/// Returns the name in NumPy: "float32", "uint8", "bool".
std::string to_string(const ElementType& type);
/// Returns the type of a NumPy name. Throws std::invalid_argument with all names if it is unknown.
ElementType element_type(const std::string& name);
std::string element_type_names();

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

/// Type and shape of a file's elements, as its header claims.
struct StoredLayout {
  ElementType type;
  bool by_columns = false;  ///< Fortran order: the first axis runs fastest
  std::vector<std::size_t> shape;
  std::size_t data_begin = 0;  ///< byte of the file at which the elements begin

  /// Multiplies the sizes; add_axis() prevents an overflow.
  std::size_t elements() const;
  std::uint64_t file_size() const { return data_begin + std::uint64_t(elements()) * type.size; }
  /// Adds an axis. Returns false, unchanged, beyond 2^60 elements or 32 axes.
  bool add_axis(std::size_t size);
};

/// Formats a shape as in Python: "(2, 3)", "(4,)", "()".
std::string shape_text(const std::vector<std::size_t>& shape);

/// Array in the bytes of a file, which must outlive it: floats, integers and bools, either byte
/// order, either memory order, any shape. Throws DataError unless the bytes hold exactly the
/// elements of the layout; allocates nothing.
class StoredArray {
 public:
  StoredArray(StoredLayout layout, ByteSpan file, const std::string& name);

  const ElementType& type() const { return layout_.type; }
  const std::vector<std::size_t>& shape() const { return layout_.shape; }
  std::size_t size() const { return layout_.elements(); }

  /// Returns the elements in place, row-major; nothing if type, order or alignment require a copy.
  template <class Number>
  std::optional<std::span<const Number>> elements() const {
    if (!holds_in_place(std::floating_point<Number>    ? 'f'
                        : std::signed_integral<Number> ? 'i'
                                                       : 'u',
                        sizeof(Number)))
      return std::nullopt;
    return std::span(reinterpret_cast<const Number*>(data_.data()), size());
  }
  /// Converts all elements to double. Throws DataError for an integer without an exact double.
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

/// Returns whether the bytes begin like an IDX file (LeCun's format of MNIST): two zeros, a type
/// and a number of axes.
bool is_idx(ByteSpan front);
/// Parses the header from the first bytes. Throws DataError.
StoredLayout parse_idx_header(ByteSpan front, const std::string& name);
/// Returns the array of an IDX file; the bytes must outlive it. Throws DataError unless they hold
/// exactly the elements of the header.
StoredArray parse_idx(ByteSpan file, const std::string& name);

}  // namespace bochner
