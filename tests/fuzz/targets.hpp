#pragma once
/// Fuzz targets: a reader, a maker of its inputs, and its memory bound.

#include <bochner/data/files/gzip.hpp>

#include "fuzz/mutate.hpp"

namespace bochner {

struct Target {
  const char* name;
  std::vector<std::string> seeds;  ///< valid inputs
  std::vector<std::string> words;  ///< words of the format
  /// Makes an input from the seeds; may correct the format's checksums and sizes.
  std::string (*make)(const Target& target, Draws& draws);
  /// Reads the input with random options. May throw DataError.
  void (*read)(ByteSpan input, Draws& draws);
  std::size_t memory = 0;  ///< bound on bytes of memory per byte of input, plus a megabyte
};

/// Throws an error that no reader may throw, unless `holds`.
void demand(bool holds, const char* what);
/// Returns a seed of the target with mutations.
std::string mutated(const Target& target, Draws& draws);

/// Readers of arrays; of the files of runs; and readers with a bug.
const std::vector<Target>& targets();
const std::vector<Target>& run_targets();
const std::vector<Target>& broken_targets();
/// Files of series, recordings, and any format of labelled series; and a reader of recordings that
/// trusts their headers.
Target series_target();
Target sound_target();
Target labelled_target();
Target trusting_sound_target();
/// The facts of a checkpoint.
Target facts_target();

}  // namespace bochner
