#pragma once
/// Arrays of numbers in NumPy's .npy format.

#include <bit>
#include <bochner/autodiff/tensor.hpp>
#include <bochner/data/array.hpp>
#include <bochner/data/npy_header.hpp>
#include <concepts>
#include <filesystem>
#include <optional>

namespace bochner::inline BOCHNER_PRECISION {

/// An array that lies in the bytes of a .npy file, which must outlive it: floats, integers and
/// bools, either byte order, either memory order, any shape. Throws DataError unless the bytes hold
/// exactly the elements that the header claims; nothing is allocated.
class NpyArray {
 public:
  NpyArray(ByteSpan file, const std::string& name);

  const NpyType& type() const { return header_.type; }
  const std::vector<std::size_t>& shape() const { return header_.shape; }
  std::size_t size() const { return header_.elements(); }

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
  NpyHeader header_;
  ByteSpan data_;
};

/// A matrix of finite numbers. -> (rows, columns). Throws IoError when the file cannot be read,
/// DataError when it holds something else.
Tensor read_npy(const std::filesystem::path& path);

/// As elements of `type`, little-endian and row-major. Throws DataError for a number that is none
/// of an integer type; to float32 it is rounded.
void write_npy(const xt::xarray<double>& values, const Sink& sink, const NpyType& type = {});

}  // namespace bochner::inline BOCHNER_PRECISION
