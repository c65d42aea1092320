#pragma once
#include <bochner/train/tasks/labels/label_learner.hpp>
#include <bochner/train/tasks/labels/labelled_data.hpp>

namespace bochner {

/// Sequences of a config, with names numbered as in the known facts.
struct LabelData {
  TableShape shape;  ///< of tables of events
  std::unique_ptr<LabelledSequences> sequences;

  LabelData(const Config& config, const KnownFacts& known);
};

/// Returns the facts of the sequences, or the known ones if data may not extend them. Throws
/// DataError if the data hold names or sizes that the model has not learned.
LabelFacts label_facts(const Config& config, const LabelData& data, const KnownFacts& known);

/// Returns label_facts() of images. Throws DataError also for images of another size than known.
LabelFacts image_facts(const Config& config, const LabelData& data, const KnownFacts& known);
/// Returns facts for a model without data: images of one patch.
LabelFacts smallest_image_facts(const Config& config);

}  // namespace bochner
