#pragma once

#include <bochner/data/formats/stored_array.hpp>
#include <cstdint>

namespace bochner {

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

}  // namespace bochner
