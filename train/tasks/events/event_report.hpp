#pragma once
#include <bochner/data/events/event_sequences.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/train/charts/page.hpp>

namespace bochner {

/// Sums over types and time of |lambda - truth| and of the truth: at midpoints of equal parts of
/// every gap, weighted by the length of the gap.
struct IntensityError {
  double difference = 0, truth = 0;
};
/// Returns the error of the learned intensity. truth: (B, T, points, K)
IntensityError intensity_error(const EventModel& model, const Var& weights, const EventBatch& batch,
                               const Times& truth);

/// Draws the first validation example: the intensity of each type over time, learned and, if known,
/// true, and its events.
void add_intensities(Page& page, EventModel& model, const EventSource& data);

}  // namespace bochner
