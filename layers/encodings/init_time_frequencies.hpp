#pragma once
/// Initialization of time encodings from data.

#include <bochner/layers/encodings/time_encoding.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Draws 64 angular frequencies per event sequence from the periodogram of event counts in bins of
/// half a unit of time, or wider ones to have at most 1024. Sequences without a span give none.
/// times (B, T), ascending; repeats of the last time are ignored.
std::vector<double> event_frequencies(const Times& times, const RandomFunction& random);

/// Initializes all time encodings of a model at event_frequencies(). Throws if there are none.
void init_time_frequencies(Module& model, const Times& times, std::uint64_t seed);

}  // namespace bochner::inline BOCHNER_PRECISION
