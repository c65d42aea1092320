#pragma once
#include <bochner/data/events/event_files.hpp>
#include <bochner/data/text/labelled_texts.hpp>
#include <bochner/train/config/config.hpp>

namespace bochner {

/// Opens images, shapes, texts, expressions, or sequences of events. `shape` holds the known names
/// of types and labels of events, and receives new names and the shape of their tables; labels of
/// texts are numbered as in `known_labels`. Throws DataError, and std::invalid_argument for other
/// data.
std::unique_ptr<LabelledSequences> labelled_sequences(
    const Config& config, TableShape& shape, const std::vector<std::string>& known_labels = {});
LabelledEventsSpec labelled_events_spec(const Config& config);
LabelledTextsSpec labelled_texts_spec(const Config& config);
/// Returns whether each sequence begins with a class token.
bool has_class_token(const Config& config);

}  // namespace bochner
