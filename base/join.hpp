#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bochner {

/// Joins texts or whole numbers, each converted by `word`: "a, b, c".
template <class Range, class Word = std::identity>
std::string joined(const Range& range, std::string_view between = ", ", const Word& word = {}) {
  std::string all;
  bool is_first = true;
  for (const auto& each : range) {
    if (!std::exchange(is_first, false)) all += between;
    const auto& part = std::invoke(word, each);
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>>)
      all += std::to_string(part);
    else
      all += part;
  }
  return all;
}

}  // namespace bochner
