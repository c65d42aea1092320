#pragma once

#include <cstdint>

namespace bochner {

/// Element i of a random order of 0, ..., n - 1: the order of the examples in an epoch. A function
/// of its arguments, nothing is stored. Feistel network on a grid of about sqrt(n) x sqrt(n) cells
/// (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002); the few cells beyond n are
/// walked through. Throws std::invalid_argument unless i < n <= 2^63.
std::uint64_t permuted_index(std::uint64_t seed, std::uint64_t epoch, std::uint64_t i,
                             std::uint64_t n);

/// A random integer below `bound` for the epoch, independent of the order: where its cut begins.
std::uint64_t epoch_offset(std::uint64_t seed, std::uint64_t epoch, std::uint64_t bound);

}  // namespace bochner
