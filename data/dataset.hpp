#pragma once
/// Dataset: numbered examples in splits, and what every source of them tells about itself.

#include <bochner/base/keys.hpp>
#include <bochner/base/numeric/philox.hpp>

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

/// Element i of a random order of 0, ..., n - 1: the order of the examples in an epoch. A function
/// of its arguments, nothing is stored. Feistel network on a grid of about sqrt(n) x sqrt(n) cells
/// (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002); the few cells beyond n are
/// walked through. Throws std::invalid_argument unless i < n <= 2^63.
std::uint64_t permuted_index(std::uint64_t seed, std::uint64_t epoch, std::uint64_t i,
                             std::uint64_t n);

/// A random integer below `bound` for the epoch, independent of the order: where its cut begins.
std::uint64_t epoch_offset(std::uint64_t seed, std::uint64_t epoch, std::uint64_t bound);

/// The examples of a batch: which of their split, and in training the epoch that visits each.
struct Examples {
  struct Number {
    std::uint64_t index, epoch = 0;
  };
  Split split = Split::train;
  std::vector<Number> numbers;

  std::size_t size() const { return numbers.size(); }
  std::uint64_t index(std::size_t row) const { return numbers[row].index; }
};

/// How many examples there are, and the seed of their order and of those that are generated.
struct ExampleSet {
  std::uint64_t seed = 1;
  std::uint64_t train = 10000;
  std::uint64_t validation = 1000;
  std::uint64_t test = 0;

  std::uint64_t size(Split split) const;
  /// Of everything that decides the examples of a generator with these parameters.
  std::uint64_t fingerprint(const std::string& generator,
                            const std::vector<std::uint64_t>& parameters) const;
};
inline void describe(Keys& keys, ExampleSet& examples) {
  keys("train_examples", examples.train, between(1, 1e12),
       "generated: training examples of an epoch; they cost no memory");
  keys("validation_examples", examples.validation, between(0, 1e12),
       "generated: examples kept for validation, 0 for none");
  keys("test_examples", examples.test, between(0, 1e12),
       "generated: others again, for eval --split test", resumable);
}

/// The random numbers of one example of a generated set, whose splits have nothing in common: a
/// function of (seed, split, index), so that a set costs no memory and a split stays as it is when
/// the others grow.
inline Draws draws_of(const ExampleSet& set, Split split, std::uint64_t index) {
  if (split == Split::test) index += std::uint64_t(1) << 62;
  return Draws({set.seed, Purpose::examples, 2 * index + (split == Split::train ? 0 : 1)});
}

class ByteCorpus;

/// A source of examples has, besides, a `batch(const Examples&)` of a type of its own.
class Dataset {
 public:
  virtual ~Dataset() = default;
  const ExampleSet& examples() const { return examples_; }
  /// Of training, those of one epoch.
  std::uint64_t examples(Split split) const { return examples_.size(split); }

  /// Training examples first, ..., first + count - 1, counted on from epoch to epoch: each epoch
  /// visits all of them in an order of its own, see in_epoch().
  Examples training(std::uint64_t first, std::size_t count) const;
  /// Examples first, ..., first + count - 1 in the order of the data. Throws std::invalid_argument
  /// where there are none.
  Examples in_order(Split split, std::uint64_t first, std::size_t count) const;
  /// Batches of `size` that hold all examples of a split, and one of them; the last may be smaller.
  std::uint64_t batches(Split split, std::size_t size) const;
  Examples part(Split split, std::uint64_t index, std::size_t size) const;
  /// What is left over behind the last example of a split, too short to be one; nothing as a rule.
  virtual Examples rest(Split split) const { return {split, {}}; }

  virtual std::uint64_t tokens_per_example() const = 0;
  /// Equal data give equal fingerprints: a resumed run refuses other data.
  virtual std::uint64_t fingerprint() const = 0;
  /// The files whose fingerprint it is, where they may be so large that it takes long.
  virtual const ByteCorpus* corpus() const { return nullptr; }
  /// For the user: "listops, 4 to 30 tokens  ·  10000 examples to train, 1000 to validate"
  std::string words() const { return describe() + "  ·  " + describe_splits(); }

 protected:
  explicit Dataset(const ExampleSet& examples = {}) : examples_(examples) {}
  virtual std::string describe() const = 0;
  virtual std::string describe_splits() const;
  /// The example at a place of an epoch, in a random order unless the data have a better one: a
  /// function of the seed, the data and the arguments.
  virtual std::uint64_t in_epoch(std::uint64_t epoch, std::uint64_t place) const {
    return permuted_index(examples_.seed, epoch, place, examples_.train);
  }

  ExampleSet examples_;
};

}  // namespace bochner
