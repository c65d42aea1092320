#pragma once
/// Generated examples: each is a function of (seed, split, index), so that a set costs no memory.

#include <bochner/autodiff/compute/philox.hpp>
#include <bochner/data/dataset.hpp>

namespace bochner {

/// The random numbers of one example, one after the other.
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

 private:
  RandomFunction random_;
  std::uint64_t next_ = 0;
};

/// Those of one example of a set, whose training and validation have nothing in common.
inline Draws draws_of(const ExampleSet& set, Split split, std::uint64_t index) {
  return Draws({set.seed, Purpose::examples, 2 * index + (split == Split::train ? 0 : 1)});
}

}  // namespace bochner
