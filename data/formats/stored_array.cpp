#include <algorithm>
#include <bit>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/shape.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/stored_array.hpp>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

namespace bochner {
namespace {

static_assert(std::endian::native == std::endian::little);
struct NamedType {
  const char* name;
  ElementType type;
};
constexpr NamedType types[] = {{"float64", {'f', 8}}, {"float32", {'f', 4}}, {"int8", {'i', 1}},
                               {"int16", {'i', 2}},   {"int32", {'i', 4}},   {"int64", {'i', 8}},
                               {"uint8", {'u', 1}},   {"uint16", {'u', 2}},  {"uint32", {'u', 4}},
                               {"uint64", {'u', 8}},  {"bool", {'b', 1}}};

constexpr std::size_t most_axes = 32;
constexpr std::size_t most_elements = std::size_t(1) << 60;

/// Loads an element; a bool is any byte except zero.
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
  // 2^63 and 2^64 are doubles, but not integers of these types.
  return number != std::ldexp(1.0, std::numeric_limits<Stored>::digits) && Stored(number) == stored;
}

}  // namespace

std::string to_string(const ElementType& type) {
  for (const auto& [name, known] : types)
    if (type.kind == known.kind && type.size == known.size) return name;
  return "";
}

ElementType element_type(const std::string& name) {
  const auto found = std::ranges::find(types, name, &NamedType::name);
  require(found != std::end(types), "type", excerpt(name), ": must be one of ",
          element_type_names());
  return found->type;
}

std::string element_type_names() { return joined(types, ", ", &NamedType::name); }

std::size_t StoredLayout::elements() const {
  std::size_t product = 1;
  for (const std::size_t size : shape) product *= size;
  return product;
}

bool StoredLayout::add_axis(std::size_t size) {
  std::size_t product = 1;  // ignores zeros, so that they hide no overflow
  for (const std::size_t other : shape) product *= std::max<std::size_t>(other, 1);
  if (shape.size() == most_axes || std::max<std::size_t>(size, 1) > most_elements / product)
    return false;
  shape.push_back(size);
  return true;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  return '(' + joined(shape) + (shape.size() == 1 ? ",)" : ")");
}

StoredArray::StoredArray(StoredLayout layout, ByteSpan file, const std::string& name)
    : name_(name), layout_(std::move(layout)), data_(file.subspan(layout_.data_begin)) {
  if (layout_.elements() != data_.size() / layout_.type.size ||
      data_.size() % layout_.type.size != 0)
    throw DataError(name, ": claims ", shape_text(layout_.shape), " of ", to_string(layout_.type),
                    " and holds ", data_.size(), " bytes of them; fetch or write the file again");
}

bool StoredArray::holds_in_place(char kind, std::size_t bytes) const {
  const bool in_order = !layout_.by_columns || shape().size() <= 1;
  const bool native = !type().big_endian || type().size == 1;
  return type().kind == kind && type().size == bytes && in_order && native &&
         reinterpret_cast<std::uintptr_t>(data_.data()) % bytes == 0;
}

std::size_t StoredArray::position(std::size_t index) const {
  if (!layout_.by_columns) return index;
  std::size_t stride = size(), at = 0;
  for (std::size_t axis = shape().size(); axis-- > 0;) {
    stride /= shape()[axis];
    at += index % shape()[axis] * stride;
    index /= shape()[axis];
  }
  return at;
}

template <class Stored>
void StoredArray::copy_to(double* out) const {
  const std::size_t count = size();
  for (std::size_t i = 0; i < count; ++i) {
    const Stored stored =
        load<Stored>(data_.data() + position(i) * sizeof(Stored), type().big_endian);
    out[i] = double(stored);
    if (!is_exact(out[i], stored))
      throw DataError(name_, ": element ", i, " = ", stored,
                      " has no exact double; store such numbers in two columns");
  }
}

xt::xarray<double> StoredArray::values() const {
  auto values = xt::xarray<double>::from_shape(shape());
  with_type(type(), [&](auto zero) { copy_to<decltype(zero)>(values.data()); });
  return values;
}

}  // namespace bochner
