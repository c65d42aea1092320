#include "fuzz/mutate.hpp"

#include <algorithm>

namespace bochner {
namespace {

constexpr std::size_t longest_input = 8192;

/// Returns a position in the text, possibly its end.
std::size_t place(const std::string& bytes, Draws& draws) { return draws.below(bytes.size() + 1); }

/// Returns a piece of the text, usually a short one.
std::string piece(const std::string& bytes, Draws& draws) {
  const std::size_t begin = place(bytes, draws);
  return bytes.substr(begin, draws.below(draws.chance(0.8) ? 16 : bytes.size() + 1));
}

std::string number_bytes(std::uint64_t number, Draws& draws) {
  std::string bytes;
  for (std::size_t size = std::size_t(1) << draws.below(4); size > 0; --size) {
    bytes += char(number & 0xff);
    number >>= 8;
  }
  if (draws.chance(0.5)) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

void overwrite(std::string& bytes, std::size_t at, const std::string& with) {
  bytes.replace(at, std::min(with.size(), bytes.size() - at), with);
}

void mutate_once(std::string& bytes, const std::string& other,
                 const std::vector<std::string>& words, Draws& draws) {
  const std::size_t at = place(bytes, draws);
  switch (draws.below(9)) {
    case 0:
      if (at < bytes.size()) bytes[at] = char(bytes[at] ^ (1 << draws.below(8)));
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = char(draws.below(256));
      break;
    case 2:
      overwrite(bytes, at, number_bytes(awkward_number(bytes.size(), draws), draws));
      break;
    case 3:
      bytes.erase(at, piece(bytes, draws).size());
      break;
    case 4:
      bytes.insert(at, piece(bytes, draws));
      break;
    case 5:
      bytes.insert(at, piece(other, draws));
      break;
    case 6:
      overwrite(bytes, at, piece(other, draws));
      break;
    case 7:
      if (!words.empty()) bytes.insert(at, pick(words, draws));
      break;
    case 8:
      draws.chance(0.3) ? bytes.resize(at) : overwrite(bytes, at, pick(words, draws));
      break;
  }
}

}  // namespace

std::uint64_t awkward_number(std::size_t size, Draws& draws) {
  const std::uint64_t near = draws.chance(0.5) ? std::uint64_t(1) << draws.below(64) : size;
  return near + draws.below(5) - 2;
}

void mutate(std::string& bytes, const std::string& other, const std::vector<std::string>& words,
            Draws& draws) {
  for (std::uint64_t count = 1 + draws.below(8); count > 0; --count)
    mutate_once(bytes, other, words, draws);
  if (bytes.size() > longest_input) bytes.resize(longest_input);
}

}  // namespace bochner
