#pragma once
/// Dataset: numbered examples in splits. Every source of data derives from it.

#include <bochner/base/keys.hpp>
#include <bochner/base/numeric/philox.hpp>

namespace bochner {

enum class Split { train, validation, test };

/// "training", "validation" or "test".
constexpr const char* name_of(Split split) {
  return split == Split::train ? "training" : split == Split::validation ? "validation" : "test";
}

/// Returns how many of n examples are held out (always the last ones): n * fraction, rounded up.
/// Where n > 1 and fraction > 0, both parts have at least one. Throws std::invalid_argument unless
/// 0 <= fraction < 1.
std::uint64_t held_out(std::uint64_t n, double fraction);
/// Returns for each of several sequences with these lengths where its held-out part begins: the
/// last sequences are held out whole, and of a single one its last elements.
std::vector<std::size_t> held_out_from(const std::vector<std::size_t>& lengths, double fraction);

/// Returns element i of a random order of 0, ..., n - 1: the order of the examples in an epoch.
/// Stores nothing: a Feistel network on a grid of about sqrt(n) x sqrt(n) cells (Black and Rogaway,
/// "Ciphers with arbitrary finite domains", 2002) that walks through the few cells beyond n. Throws
/// std::invalid_argument unless i < n <= 2^63.
std::uint64_t permuted_index(std::uint64_t seed, std::uint64_t epoch, std::uint64_t i,
                             std::uint64_t n);

/// Returns a random integer below `bound` for the epoch, independent of its order.
std::uint64_t epoch_offset(std::uint64_t seed, std::uint64_t epoch, std::uint64_t bound);

/// Examples of a batch: index in the split and, in training, the epoch that visits each.
struct Examples {
  struct Number {
    std::uint64_t index, epoch = 0;
  };
  Split split = Split::train;
  std::vector<Number> numbers;

  std::size_t size() const { return numbers.size(); }
  std::uint64_t index(std::size_t row) const { return numbers[row].index; }
};

/// Number of examples per split, and the seed of their order and of generated ones.
struct ExampleSet {
  std::uint64_t seed = 1;
  std::uint64_t train = 10000;
  std::uint64_t validation = 1000;
  std::uint64_t test = 0;

  std::uint64_t size(Split split) const {
    return split == Split::train ? train : split == Split::validation ? validation : test;
  }
  /// Hashes everything that decides the examples of a generator with these parameters.
  std::uint64_t fingerprint(const std::string& generator,
                            const std::vector<std::uint64_t>& parameters) const;
};
inline void describe(Keys& keys, ExampleSet& examples) {
  keys("train_examples", examples.train, between(1, 1e12),
       "generated examples of an epoch; they take no memory");
  keys("validation_examples", examples.validation, between(0, 1e12),
       "generated examples for validation, 0 for none");
  keys("test_examples", examples.test, between(0, 1e12), "further examples for eval --split test",
       resumable);
}

/// Returns the random numbers of one generated example: a function of (seed, split, index). A set
/// costs no memory, splits are independent, and a split does not change when others grow.
inline Draws draws_of(const ExampleSet& set, Split split, std::uint64_t index) {
  if (split == Split::test) index += std::uint64_t(1) << 62;
  return Draws({set.seed, Purpose::examples, 2 * index + (split == Split::train ? 0 : 1)});
}

class ByteCorpus;

/// Source of examples. Each class adds `batch(const Examples&)` with its own batch type.
class Dataset {
 public:
  virtual ~Dataset() = default;
  const ExampleSet& examples() const { return examples_; }
  /// Returns the number of examples; of the training split, per epoch.
  std::uint64_t examples(Split split) const { return examples_.size(split); }

  /// Returns training examples first, ..., first + count - 1, counted across epochs; each epoch
  /// visits all examples in its own order, see in_epoch().
  Examples training(std::uint64_t first, std::size_t count) const;
  /// Returns examples first, ..., first + count - 1 in the order of the data. Throws
  /// std::invalid_argument if they do not exist.
  Examples in_order(Split split, std::uint64_t first, std::size_t count) const;
  /// Returns how many batches of `size` hold a split, the last may be smaller; part() returns one.
  std::uint64_t batches(Split split, std::size_t size) const;
  Examples part(Split split, std::uint64_t index, std::size_t size) const;
  /// Returns what remains after the last example of a split, too short to be one.
  virtual Examples rest(Split split) const { return {split, {}}; }

  virtual std::uint64_t tokens_per_example() const = 0;
  /// Returns the number of predictions of training examples, whose mean is the loss, or a multiple
  /// of it that is the same for all examples.
  virtual double terms(const Examples& examples) const { return double(examples.size()); }
  /// Returns the same number for equal data: a resumed run refuses other data.
  virtual std::uint64_t fingerprint() const = 0;
  /// Returns the files of the fingerprint if they may be large enough to take long to read.
  virtual const ByteCorpus* corpus() const { return nullptr; }
  /// Describes the data: "listops, 4 to 30 tokens  ·  10000 examples to train, 1000 to validate".
  std::string words() const { return describe() + "  ·  " + describe_splits(); }

 protected:
  explicit Dataset(const ExampleSet& examples = {}) : examples_(examples) {}
  virtual std::string describe() const = 0;
  virtual std::string describe_splits() const;
  /// Returns the example at a position of an epoch, in random order unless a class has a better
  /// one: a function of the seed, the data and the arguments.
  virtual std::uint64_t in_epoch(std::uint64_t epoch, std::uint64_t place) const {
    return permuted_index(examples_.seed, epoch, place, examples_.train);
  }

  ExampleSet examples_;
};

}  // namespace bochner
