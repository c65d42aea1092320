#pragma once
#include <cstddef>

namespace bochner {

/// Returns a / b rounded up, b > 0.
constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Returns the smallest multiple of b that is at least a.
constexpr std::size_t round_up(std::size_t a, std::size_t b) { return ceil_div(a, b) * b; }

}  // namespace bochner
