#pragma once
/// Random numbers as functions of integers: Philox 4x32-10 keyed by (seed, purpose), counted by
/// (step, element). Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
/// 2011.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bochner {

/// What a random number is for. Part of the key: the values are fixed for ever, new ones go to the
/// end.
enum class Purpose : std::uint32_t {
  initialization = 1,
  dropout = 2,
  spectral = 3,
  data_order = 4,
  sampling = 5,
  test = 6,
  examples = 7,
  posterior = 8
};

/// A random function of the element number. Equal fields give equal numbers, on any machine and
/// thread.
struct RandomFunction {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::test;
  std::uint64_t stream = 0;  ///< which use within the purpose: a hash of a name, or a step

  std::array<std::uint32_t, 4> bits(std::uint64_t element) const;
  /// bits() of `count` elements from `first` on, one after the other: 4 count words, many at once.
  void fill_bits(std::uint64_t first, std::size_t count, std::uint32_t* out) const;
  /// Uniform on (0, 1), never 0 or 1: the middles of 2^52 cells.
  double uniform(std::uint64_t element) const;
  /// Standard normal by Box and Muller; the C library's log and cos decide its last bits.
  double normal(std::uint64_t element) const;
  /// Uniform on {0, ..., bound - 1} without modulo bias (64-bit multiply; bias below 2^-32).
  std::uint64_t integer(std::uint64_t element, std::uint64_t bound) const;
};

/// The numbers of a random function, one element after the other.
class Draws {
 public:
  explicit Draws(const RandomFunction& random) : random_(random) {}
  /// Uniform on {0, ..., bound - 1}.
  std::uint64_t below(std::uint64_t bound) { return random_.integer(next_++, bound); }
  /// True with this probability.
  bool chance(double probability) { return uniform() < probability; }
  /// On (0, 1), never 0 or 1.
  double uniform() { return random_.uniform(next_++); }
  /// Uniform on (low, high).
  double between(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal.
  double normal() { return random_.normal(next_++); }
  /// 0, ..., n - 1 in random order (Fisher and Yates).
  std::vector<std::size_t> shuffled(std::size_t n);

 private:
  RandomFunction random_;
  std::uint64_t next_ = 0;
};

/// FNV-1a hash of a name, to select a stream.
std::uint64_t stream_of(const char* name);

}  // namespace bochner
