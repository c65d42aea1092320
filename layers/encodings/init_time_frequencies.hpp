#pragma once
/// Where encodings of time start when they start at the data.

#include <bochner/layers/encodings/time_encoding.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Angular frequencies drawn from the periodograms of sequences of events, 64 of each: what is
/// transformed are the numbers of events in bins of half a unit of time, or longer ones where there
/// would be more than 1024. None for sequences without a span. times (B, T), ascending, what
/// repeats the last one left out
std::vector<double> event_frequencies(const Times& times, const RandomFunction& random);

/// Starts every encoding of time in a model at event_frequencies(), which must not be empty.
void start_time_encodings(Module& model, const Times& times, std::uint64_t seed);

}  // namespace bochner::inline BOCHNER_PRECISION
