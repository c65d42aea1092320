#include <bochner/base/errors.hpp>
#include <bochner/data/formats/idx.hpp>
#include <utility>

namespace bochner {
namespace {

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
