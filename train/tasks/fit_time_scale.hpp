#pragma once
#include <bochner/data/dataset.hpp>
#include <bochner/layers/encodings/scales.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>

namespace bochner {

/// Returns the training examples that determine origin and unit of time.
Examples scale_examples(const Dataset& data);
/// Sets origin and unit of time from training sequences, and the frequencies if they are
/// initialised from data. times: (B, T)
void fit_times(Module& model, TimeScale& scale, const TimeEncodingSpec& time, const Times& times,
               std::uint64_t seed);

}  // namespace bochner
