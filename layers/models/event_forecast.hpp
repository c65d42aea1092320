#pragma once
#include <bochner/layers/models/event_model.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// What a model expects after each event, with the time of the data.
struct EventForecast {
  Times median, mean;    ///< (B, T): of the time of the next event
  Tensor probabilities;  ///< (B, T, K) of its type, whenever it comes
};

/// From 64 quantiles of the next time each, found by bisection of the integral of the intensity.
/// types (B, T), times (B, T)
EventForecast forecast_events(EventModel& model, const Indices& types, const Times& times);

}  // namespace bochner::inline BOCHNER_PRECISION
