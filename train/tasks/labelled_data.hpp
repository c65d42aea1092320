#pragma once
/// Sequences with labels as a config describes them, for the tasks that see such.

#include <bochner/data/formats/array.hpp>
#include <bochner/data/labelled_events.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// Images, shapes, texts, expressions, or sequences of events. `shape` receives that of the tables
/// that they are from, if they are. Throws DataError, and std::invalid_argument for other data.
std::unique_ptr<LabelledSequences> labelled_sequences(const Config& config, TableShape& shape);
LabelledEventsSpec labelled_events_spec(const Config& config);
/// Pixels of images (n, ...), each row by row with its channels together. Throws DataError where
/// the sizes differ, or a number is no brightness.
std::vector<LabelledExample> image_examples(const NamedArray& input, const ImageShape& shape,
                                            bool class_token);

}  // namespace bochner::inline BOCHNER_PRECISION
