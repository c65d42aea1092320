#include <algorithm>
#include <bochner/data/errors.hpp>
#include <bochner/data/input.hpp>
#include <bochner/data/npy.hpp>
#include <bochner/data/text.hpp>
#include <cmath>
#include <cstring>
#include <limits>

namespace bochner::inline BOCHNER_PRECISION {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::size_t piece_size = 1 << 16;  // bytes handed on at a time

/// Calls `action` with a zero of the type.
template <class Action>
void with_type(const NpyType& type, const Action& action) {
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

/// A bool is any byte but zero.
template <class Stored>
Stored load(const std::uint8_t* at, bool swapped) {
  if constexpr (std::same_as<Stored, bool>) return *at != 0;
  std::uint8_t bytes[sizeof(Stored)];
  std::memcpy(bytes, at, sizeof(Stored));
  if (swapped) std::reverse(bytes, bytes + sizeof(Stored));
  Stored value;
  std::memcpy(&value, bytes, sizeof(Stored));
  return value;
}

template <class Stored>
bool is_exact(double number, Stored stored) {
  if constexpr (sizeof(Stored) < 8 || std::floating_point<Stored>) return true;
  // 2^63 and 2^64 are doubles, but no such integers.
  return number != std::ldexp(1.0, std::numeric_limits<Stored>::digits) && Stored(number) == stored;
}

template <class Stored>
bool fits(double number) {
  if constexpr (std::floating_point<Stored>)
    return !std::isfinite(number) || std::abs(number) <= std::numeric_limits<Stored>::max();
  const double above = std::ldexp(1.0, std::numeric_limits<Stored>::digits);
  const double lowest = std::signed_integral<Stored> ? -above : 0;
  return number >= lowest && number < above && number == std::trunc(number);
}

std::vector<std::size_t> shape_of(const xt::xarray<double>& values) {
  return {values.shape().begin(), values.shape().end()};
}

}  // namespace

NpyArray::NpyArray(ByteSpan file, const std::string& name)
    : name_(name), header_(parse_npy_header(file, name)), data_(file.subspan(header_.data_begin)) {
  if (header_.elements() != data_.size() / header_.type.size ||
      data_.size() % header_.type.size != 0)
    throw DataError(name + ": claims " + shape_text(header_.shape) + " of " +
                    to_string(header_.type) + " and holds " + std::to_string(data_.size()) +
                    " bytes of them; fetch or write the file again");
}

bool NpyArray::holds_in_place(char kind, std::size_t bytes) const {
  const bool in_order = !header_.by_columns || shape().size() <= 1;
  const bool native = !type().big_endian || type().size == 1;
  return type().kind == kind && type().size == bytes && in_order && native &&
         reinterpret_cast<std::uintptr_t>(data_.data()) % bytes == 0;
}

/// Where the element lies that has this place in row-major order.
std::size_t NpyArray::position(std::size_t index) const {
  if (!header_.by_columns) return index;
  std::size_t stride = size(), at = 0;
  for (std::size_t axis = shape().size(); axis-- > 0;) {
    stride /= shape()[axis];
    at += index % shape()[axis] * stride;
    index /= shape()[axis];
  }
  return at;
}

template <class Stored>
void NpyArray::copy_to(double* out) const {
  const std::size_t count = size();
  for (std::size_t i = 0; i < count; ++i) {
    const Stored stored =
        load<Stored>(data_.data() + position(i) * sizeof(Stored), type().big_endian);
    out[i] = double(stored);
    if (!is_exact(out[i], stored))
      throw DataError(name_ + ": element " + std::to_string(i) + " = " + std::to_string(stored) +
                      " has no equal in double; store such numbers in two columns");
  }
}

xt::xarray<double> NpyArray::values() const {
  auto values = xt::xarray<double>::from_shape(shape());
  with_type(type(), [&](auto zero) { copy_to<decltype(zero)>(values.data()); });
  return values;
}

Tensor read_npy(const std::filesystem::path& path) {
  const Input input(path);
  const NpyArray array(input.bytes(), input.name());
  const auto fail = [&](const std::string& what) {
    throw DataError(input.name() + ": " + what + "; save it with numpy.save(FILE, matrix)");
  };
  if (array.shape().size() != 2)
    fail("is of shape " + shape_text(array.shape()) + ", not a matrix");
  if (array.size() == 0) fail("is empty");
  const xt::xarray<double> values = array.values();
  Tensor matrix = uninitialized({values.shape(0), values.shape(1)});
  for (std::size_t i = 0; i < values.size(); ++i) {
    matrix.data()[i] = real(values.data()[i]);
    if (!std::isfinite(matrix.data()[i]))
      fail("row " + std::to_string(i / values.shape(1)) + " holds a number that is not finite");
  }
  return matrix;
}

void write_npy(const xt::xarray<double>& values, const Sink& sink, const NpyType& type) {
  sink(npy_header_bytes(type, shape_of(values)));
  std::string piece;
  const auto append = [&](double number, auto zero) {
    using Stored = decltype(zero);
    if (!fits<Stored>(number))
      throw DataError("cannot write " + format_number(number) + " as " + to_string(type) +
                      "; choose a type that holds it");
    const auto stored = Stored(number);
    piece.append(reinterpret_cast<const char*>(&stored), sizeof(Stored));
  };
  with_type(type, [&](auto zero) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      append(values.data()[i], zero);
      if (piece.size() < piece_size) continue;
      sink(piece);
      piece.clear();
    }
  });
  sink(piece);
}

}  // namespace bochner::inline BOCHNER_PRECISION
