#pragma once
/// The parts of a data set.

#include <cstdint>
#include <vector>

namespace bochner {

enum class Split { train, validation, test };

/// "training", "validation" or "test".
constexpr const char* name_of(Split split) {
  return split == Split::train ? "training" : split == Split::validation ? "validation" : "test";
}

/// How many of n are held out, always the last ones: the fraction of them, rounded up. Where n > 1
/// and the fraction is above 0, both parts have at least one. Throws std::invalid_argument unless 0
/// <= fraction < 1.
std::uint64_t held_out(std::uint64_t n, double fraction);
/// Where the held-out part of each of several sequences of these lengths begins: the last
/// sequences are held out whole, and of a single one its last elements.
std::vector<std::size_t> held_out_from(const std::vector<std::size_t>& lengths, double fraction);

}  // namespace bochner
