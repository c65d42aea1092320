#pragma once
#include <cstddef>

namespace bochner {

/// a / b rounded up, b > 0: how many parts of b hold a.
constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// The first multiple of b that is at least a.
constexpr std::size_t round_up(std::size_t a, std::size_t b) { return ceil_div(a, b) * b; }

}  // namespace bochner
