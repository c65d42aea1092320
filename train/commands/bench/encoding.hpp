#pragma once
/// Benchmark of the methods that evaluate a fused encoding on a grid of places and times.

#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/train/commands/common_options.hpp>

namespace bochner {

struct EncodingWay {
  std::string name;
  double milliseconds;  ///< for the whole grid, median of several passes
  double error;         ///< largest difference from "matrix", relative to the largest element
};

/// Measures "matrix" (sines and cosines of all places and times, times W, frame by frame),
/// "addition theorem" (FusedProjection::grid()) and "FFT" (grid_by_fft()) on a regular grid.
std::vector<EncodingWay> encoding_ways(FusedProjection& fused, const GridAxes& space,
                                       const std::vector<double>& times);
std::string text_of(const std::vector<EncodingWay>& ways);
Json json_of(const std::vector<EncodingWay>& ways);

void add_encoding_bench(const Command& bench);

}  // namespace bochner
