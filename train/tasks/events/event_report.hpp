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
IntensityError intensity_error(EventModel& model, const Var& weights, const EventBatch& batch,
                               const Times& truth);

/// Draws the waiting times of held-out events, and the hours of the day at which they come if times
/// are dates, as observed and as the model expects them.
void add_waiting_times(Page& page, EventModel& model, const EventSource& data);

/// Draws the first validation example: the intensity of each type over time, learned and, if known,
/// true, and its events.
void add_intensities(Page& page, EventModel& model, const EventSource& data);

}  // namespace bochner
