#pragma once
/// Intensities of events: learned ones beside true ones.

#include <bochner/data/events/event_sequences.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/train/charts/page.hpp>

namespace bochner {

/// Mean over time of |lambda - truth|, summed over types, over the mean of the truth: sums of both
/// over `points` middles of equal parts of every gap, weighted by their lengths.
struct IntensityError {
  double difference = 0, truth = 0;
};
IntensityError intensity_error(const EventModel& model, const Var& weights, const EventBatch& batch,
                               const Times& truth);

/// Intensity of each type over time, learned and, if known, true, and when its events came: of the
/// first validation example.
void add_intensities(Page& page, EventModel& model, const EventSource& data);

}  // namespace bochner
