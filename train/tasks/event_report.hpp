#pragma once
/// Intensities of events: learned ones beside true ones.

#include <bochner/data/event_sequences.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/train/charts/page.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// (B, T, points, K) at the middles of equal parts of every gap, in 1 / time of the data.
Times learned_intensity(const EventModel& model, const Var& weights, const EventBatch& batch,
                        std::size_t points);

/// Mean over time of |lambda - truth|, summed over types, over the mean of the truth: sums of both
/// over `points` middles of equal parts of every gap, weighted by their lengths.
struct IntensityError {
  double difference = 0, truth = 0;
};
IntensityError intensity_error(const EventModel& model, const Var& weights, const EventBatch& batch,
                               const Times& truth);

/// Intensities of one sequence, (1, T, points, K) at the middles of equal parts of every gap.
struct IntensityPicture {
  EventBatch events;
  Times learned;
  std::optional<Times> truth;  ///< where it is known
};

/// Intensity of each type over time, learned and, if known, true, and when its events came.
void add_intensities(Page& page, const IntensityPicture& picture);

}  // namespace bochner::inline BOCHNER_PRECISION
