#pragma once
/// What is fuzzed: a reader, how inputs for it are made, and how much memory it may use.

#include <bochner/data/files/gzip.hpp>

#include "fuzz/mutate.hpp"

namespace bochner {

struct Target {
  const char* name;
  std::vector<std::string> seeds;  ///< good inputs
  std::vector<std::string> words;  ///< of the format
  /// An input from the seeds; what the format checks by sums and sizes may be made right again.
  std::string (*make)(const Target& target, Draws& draws);
  /// Reads it with options drawn at random. May throw DataError.
  void (*read)(ByteSpan input, Draws& draws);
  std::size_t memory = 0;  ///< most bytes of memory for each byte of input, beside a megabyte
};

/// Throws what no reader may throw: a bug of one.
void demand(bool holds, const char* what);
/// A seed of the target with mutations.
std::string mutated(const Target& target, Draws& draws);

/// The readers of arrays, those of what runs are made of, and readers with a bug in them.
const std::vector<Target>& targets();
const std::vector<Target>& run_targets();
const std::vector<Target>& broken_targets();

}  // namespace bochner
