#pragma once
/// Forecasters of 3 rows from 9.

#include <bochner/layers/models/forecaster.hpp>
#include <cmath>

namespace bochner::inline BOCHNER_PRECISION {
namespace small_forecaster {

inline ForecasterSpec tiny(const std::string& backbone) {
  ForecasterSpec spec;
  spec.variates = 2, spec.lookback = 9, spec.horizon = 3, spec.backbone = backbone;
  spec.patch = {3, 2};
  spec.stack.blocks = 1;
  spec.stack.block.width = 4, spec.stack.block.expansion = 2;
  spec.stack.block.mixer.kind = "linear";
  spec.stack.block.mixer.heads = 2, spec.stack.block.mixer.features.m = 5;
  return spec;
}

/// Returns irregular times of 9 past and 3 future rows, equal for B windows.
inline Times irregular_times(std::size_t B) {
  Times times(std::vector<std::size_t>{B, 12});
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double t = double(i % 12);
    times.data()[i] = t + 0.3 * std::sin(3 * t) + (t > 5 ? 2 : 0);
  }
  return times;
}

}  // namespace small_forecaster
}  // namespace bochner::inline BOCHNER_PRECISION
