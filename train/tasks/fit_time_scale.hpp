#pragma once
/// What tasks whose models see times take of them from the training data.

#include <bochner/data/dataset.hpp>
#include <bochner/layers/encodings/time_encoding.hpp>
#include <bochner/layers/encodings/time_scale.hpp>

namespace bochner {

/// The training examples from which origin and unit of time are taken.
Examples scale_examples(const Dataset& data);
/// Takes origin and unit of time from training sequences, and frequencies if they start there.
/// times (B, T)
void fit_times(Module& model, TimeScale& scale, const TimeEncodingSpec& time, const Times& times,
               std::uint64_t seed);

}  // namespace bochner
