#pragma once
/// Sets of generated examples: every example is a function of (seed, split, index), so that a set
/// costs no memory and its order no state.

#include <bochner/autodiff/compute/philox.hpp>
#include <bochner/autodiff/keys.hpp>
#include <cstdint>
#include <string>
#include <vector>

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

/// A finite set: `train` examples, visited in another order in every epoch, and `validation`
/// others.
struct ExampleSet {
  std::uint64_t seed = 1;
  std::uint64_t train = 10000;
  std::uint64_t validation = 1000;

  /// Which of 0, ..., train - 1 is training example `number`, counted on from epoch to epoch.
  std::uint64_t training_index(std::uint64_t number) const;
  /// The random numbers of that example.
  Draws training(std::uint64_t number) const;
  Draws held_out(std::uint64_t index) const;
  /// Batches of `size` that hold all validation examples; the last may be smaller.
  std::uint64_t validation_batches(std::size_t size) const;
  /// The examples of one of them.
  std::size_t validation_count(std::uint64_t batch, std::size_t size) const;
  /// Of everything that decides the examples of a generator with these parameters.
  std::uint64_t fingerprint(const std::string& generator,
                            const std::vector<std::uint64_t>& parameters) const;
};
inline void describe(Keys& keys, ExampleSet& examples) {
  keys("train_examples", examples.train, between(1, 1e12),
       "generated: training examples of an epoch; they cost no memory");
  keys("validation_examples", examples.validation, between(0, 1e12),
       "generated: examples kept for validation, 0 for none");
}

}  // namespace bochner
