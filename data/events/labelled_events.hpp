#pragma once
/// Sequences of events with a label each.

#include <bochner/data/events/event_files.hpp>
#include <bochner/data/labelled/labelled.hpp>

namespace bochner {

struct LabelledEventsSpec {
  std::size_t length = 256;  ///< of longer sequences the last so many events are seen
  double validation = 0.1;   ///< fraction of the sequences that is held out, always the last ones
  std::uint64_t seed = 1;    ///< of the training order
  bool class_token = false;  ///< one more token in front, at the time of the first event
  bool labelled = true;      ///< there must be two labels or more
  std::size_t types = 0, labels = 0;  ///< that there are at least
};

/// Whole sequences: the types of their events are tokens at their times. Throws DataError where
/// there are fewer than two sequences, or one label is all there is.
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

/// What a classifier sees of a sequence: its last `length` events, behind the class token `types`
/// if there is one.
LabelledExample labelled_example(const EventTable& events, const LabelledEventsSpec& spec,
                                 std::size_t types);

}  // namespace bochner
