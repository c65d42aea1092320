#pragma once

#include <charconv>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bochner {

/// Joins texts or numbers, in their shortest form, each converted by `word`: "a, b, c".
template <class Range, class Word = std::identity>
std::string joined(Range&& range, std::string_view between = ", ", const Word& word = {}) {
  std::string all;
  bool is_first = true;
  for (auto&& each : range) {
    if (!std::exchange(is_first, false)) all += between;
    const auto& part = std::invoke(word, each);
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>>) {
      char digits[32];
      all.append(digits, std::to_chars(digits, std::end(digits), part).ptr);
    } else {
      all += part;
    }
  }
  return all;
}

}  // namespace bochner
