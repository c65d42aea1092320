#pragma once
/// Sequences with labels as a config describes them, and the facts that models learn from them.

#include <bochner/train/tasks/labels/label_learner.hpp>
#include <bochner/train/tasks/labels/labelled_data.hpp>

namespace bochner {

/// The sequences of a config, with names numbered as in the known facts.
struct LabelData {
  TableShape shape;  ///< of tables of events
  std::unique_ptr<LabelledSequences> sequences;

  LabelData(const Config& config, const KnownFacts& known);
};

/// What is learned from the sequences, or what is known, where data may not extend it. Throws
/// DataError where the data hold what the model has not learned.
LabelFacts label_facts(const Config& config, const LabelData& data, const KnownFacts& known);

/// The same of images. Throws DataError for images of another size than the known ones.
LabelFacts image_facts(const Config& config, const LabelData& data, const KnownFacts& known);
/// Of a model that has seen no data: images of one patch.
LabelFacts smallest_image_facts(const Config& config);

}  // namespace bochner
