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

constexpr std::pair<std::uint8_t, ElementType> types_of_idx[] = {
    {0x08, {'u', 1, true}}, {0x09, {'i', 1, true}}, {0x0b, {'i', 2, true}},
    {0x0c, {'i', 4, true}}, {0x0d, {'f', 4, true}}, {0x0e, {'f', 8, true}}};

/// Returns size 0 if the format has no such type.
ElementType type_of(std::uint8_t code) {
  for (const auto& [known, type] : types_of_idx)
    if (known == code) return type;
  return {'u', 0, true};
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

bool is_idx(ByteSpan front) {
  return front.size() >= 4 && front[0] == 0 && front[1] == 0 && type_of(front[2]).size > 0 &&
         front[3] > 0;
}

StoredLayout parse_idx_header(ByteSpan front, const std::string& name) {
  if (!is_idx(front)) throw DataError(name, ": is not an IDX file");
  const std::size_t axes = front[3];
  StoredLayout layout{type_of(front[2]), false, {}, 4 + 4 * axes};
  if (front.size() < layout.data_begin) throw DataError(name, ": ends within its header");
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::size_t size = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) size = size << 8 | front[4 + 4 * axis + byte];
    if (!layout.add_axis(size))
      throw DataError(name, ": claims a shape of more than 2^60 elements or 32 axes");
  }
  return layout;
}

StoredArray parse_idx(ByteSpan file, const std::string& name) {
  return {parse_idx_header(file, name), file, name};
}

}  // namespace bochner
