#pragma once
/// The ways to evaluate a fused encoding at all places and times of a grid, side by side.

#include <bochner/layers/encodings/fused_projection.hpp>
#include <bochner/train/commands/command_line.hpp>
#include <bochner/train/storage/json.hpp>

namespace bochner {

struct EncodingWay {
  std::string name;
  double milliseconds;  ///< of the whole grid, the median of some passes
  double error;         ///< largest difference from the matrix, relative to the largest element
};

/// "matrix": sines and cosines of all places and times, times W, a frame at a time; "addition
/// theorem": FusedProjection::grid(); "FFT": grid_by_fft(). Only where places lie on a regular
/// grid.
std::vector<EncodingWay> encoding_ways(FusedProjection& fused, const GridAxes& space,
                                       const std::vector<double>& times);
std::string text_of(const std::vector<EncodingWay>& ways);
Json json_of(const std::vector<EncodingWay>& ways);

void add_encoding_bench(const Command& bench);

}  // namespace bochner
