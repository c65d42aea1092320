#pragma once
/// Random numbers as functions of integers: Philox 4x32-10 keyed by (seed, purpose), counted by
/// (step, element). Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
/// 2011.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bochner {

/// The use of a random number, part of the key. Values never change; new ones are appended.
enum class Purpose : std::uint32_t {
  initialization = 1,
  dropout = 2,
  spectral = 3,
  data_order = 4,
  sampling = 5,
  test = 6,
  examples = 7,
  posterior = 8,
  curvature = 9,
  user = 10  ///< of programs, in addition to those of the library
};

/// A random function of the element number, equal on any machine and thread.
struct RandomFunction {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::test;
  std::uint64_t stream = 0;  ///< use within the purpose: a hash of a name, or a step

  std::array<std::uint32_t, 4> bits(std::uint64_t element) const;
  /// Writes bits() of `count` consecutive elements from `first`, 4 * count words.
  void fill_bits(std::uint64_t first, std::size_t count, std::uint32_t* out) const;
  /// Returns a number uniform on (0, 1), never 0 or 1: the middle of one of 2^52 cells.
  double uniform(std::uint64_t element) const;
  /// Returns a standard normal number (Box and Muller); its last bits depend on the C library.
  double normal(std::uint64_t element) const;
  /// Returns an integer uniform on {0, ..., bound - 1} by a 64-bit multiply; bias below 2^-32.
  std::uint64_t integer(std::uint64_t element, std::uint64_t bound) const;
};

/// Consecutive elements of a random function.
class Draws {
 public:
  explicit Draws(const RandomFunction& random) : random_(random) {}
  /// Returns an integer uniform on {0, ..., bound - 1}.
  std::uint64_t below(std::uint64_t bound) { return random_.integer(next_++, bound); }
  bool chance(double probability) { return uniform() < probability; }
  /// Returns a number uniform on (0, 1), never 0 or 1.
  double uniform() { return random_.uniform(next_++); }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  double normal() { return random_.normal(next_++); }
  /// Returns 0, ..., n - 1 in random order (Fisher and Yates).
  std::vector<std::size_t> shuffled(std::size_t n);

 private:
  RandomFunction random_;
  std::uint64_t next_ = 0;
};

/// Returns the FNV-1a hash of a name, to select a stream.
std::uint64_t stream_of(const char* name);

}  // namespace bochner
