#pragma once
#include <bochner/data/event_sequences.hpp>
#include <bochner/train/charts/page.hpp>

namespace bochner {

/// Intensities of one sequence, (1, T, points, K) at the middles of equal parts of every gap.
struct IntensityPicture {
  EventBatch events;
  Times learned;
  std::optional<Times> truth;  ///< where it is known
};

/// Intensity of each type over time, learned and, if known, true, and when its events came.
void add_intensities(Page& page, const IntensityPicture& picture);

}  // namespace bochner
