#pragma once
#include <bochner/layers/models/event_model.hpp>
#include <vector>

namespace bochner {

/// Returns -ln density of the time and type of the event after each event, given those up to it, in
/// units of 1 / time of the data. Of an unknown type only the time counts; NaN where no event
/// follows. (B, T)
std::vector<double> event_surprises(EventModel& model, const EventSequences& events);

}  // namespace bochner
