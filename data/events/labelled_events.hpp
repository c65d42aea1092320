#pragma once

#include <bochner/data/events/event_files.hpp>
#include <bochner/data/labelled/labelled.hpp>

namespace bochner {

struct LabelledEventsSpec {
  std::size_t length = 256;           ///< most events per sequence: the last ones
  double validation = 0.1;            ///< fraction of held-out sequences, always the last ones
  std::uint64_t seed = 1;             ///< of the training order
  bool class_token = false;           ///< prepend a token, at the time of the first event
  bool labelled = true;               ///< require two labels or more
  std::size_t types = 0, labels = 0;  ///< lower bounds
};

/// Whole sequences for a classifier: the types of events are tokens at their times. Throws
/// DataError for fewer than two sequences or labels.
class LabelledEvents : public LabelledSequences {
 public:
  LabelledEvents(std::vector<EventTable> sequences, const LabelledEventsSpec& spec);
  std::uint64_t fingerprint() const override;

 protected:
  LabelledExample example(Split split, std::uint64_t index) const override;
  std::string describe() const override;

 private:
  std::vector<EventTable> sequences_;
  LabelledEventsSpec spec_;
};

/// Returns the input of a classifier: the class token `types`, if any, and the last `length`
/// events.
LabelledExample labelled_example(const EventTable& events, const LabelledEventsSpec& spec,
                                 std::size_t types);

}  // namespace bochner
