#pragma once

#include <bochner/base/numeric/philox.hpp>
#include <string>
#include <vector>

namespace bochner {

/// One of them.
template <class Item>
const Item& pick(const std::vector<Item>& items, Draws& draws) {
  return items[draws.below(items.size())];
}

/// Changes `bytes` a little, one to eight times: bits, bytes, numbers of 1 to 8 bytes in either
/// order, pieces cut out, doubled, moved or taken from `other`, and words of the format put in.
void mutate(std::string& bytes, const std::string& other, const std::vector<std::string>& words,
            Draws& draws);

/// A number that readers stumble over: near a power of two, or near `size`.
std::uint64_t awkward_number(std::size_t size, Draws& draws);

}  // namespace bochner
