#pragma once

#include <bochner/base/numeric/philox.hpp>
#include <string>
#include <vector>

namespace bochner {

/// Draws one of the items.
template <class Item>
const Item& pick(const std::vector<Item>& items, Draws& draws) {
  return items[draws.below(items.size())];
}

/// Applies one to eight small changes: bits, bytes, numbers of 1 to 8 bytes in either order, pieces
/// removed, doubled, moved or taken from `other`, and words of the format.
void mutate(std::string& bytes, const std::string& other, const std::vector<std::string>& words,
            Draws& draws);

/// Draws a number that often breaks readers: near a power of two, or near `size`.
std::uint64_t awkward_number(std::size_t size, Draws& draws);

}  // namespace bochner
