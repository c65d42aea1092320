#include <algorithm>
#include <bit>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/events/labelled_events.hpp>
#include <bochner/data/files/digest.hpp>

namespace bochner {
namespace {

LabelledSizes sizes_of(const std::vector<EventTable>& sequences, const LabelledEventsSpec& spec) {
  std::size_t types = spec.types, classes = spec.labels, longest = 0;
  for (const EventTable& events : sequences) {
    types = std::max(types, std::size_t(std::ranges::max(events.types.values)) + 1);
    classes = std::max(classes, std::size_t(events.label) + 1);
    longest = std::max(longest, events.rows.size());
  }
  const std::size_t extra = spec.class_token ? 1 : 0;
  return {types + extra, classes, std::min(spec.length, longest) + extra};
}

ExampleSet split_of(const std::vector<EventTable>& sequences, const LabelledEventsSpec& spec) {
  if (sequences.size() < 2)
    throw DataError(
        "a classifier needs two sequences of events or more; name the column of sequence ids "
        "as data.sequence_column");
  const std::uint64_t validation = held_out(sequences.size(), spec.validation);
  return {spec.seed, sequences.size() - validation, validation};
}

}  // namespace

LabelledExample labelled_example(const EventTable& events, const LabelledEventsSpec& spec,
                                 std::size_t types) {
  const std::size_t n = events.rows.size(), first = n - std::min(n, spec.length);
  LabelledExample example{{}, events.label};
  if (spec.class_token) {
    example.tokens.push_back(std::int32_t(types));
    example.times.push_back(events.times(0, first));
  }
  for (std::size_t i = first; i < n; ++i) {
    example.tokens.push_back(events.types.values[i]);
    example.times.push_back(events.times(0, i));
  }
  return example;
}

LabelledEvents::LabelledEvents(std::vector<EventTable> sequences, const LabelledEventsSpec& spec)
    : LabelledSequences(split_of(sequences, spec), sizes_of(sequences, spec)),
      sequences_(std::move(sequences)),
      spec_(spec) {
  if (spec.labelled && classes() < 2)
    throw DataError("all labels are 0; a classifier needs two of them, from 0 on");
}

LabelledExample LabelledEvents::example(Split split, std::uint64_t index) const {
  const std::uint64_t first = split == Split::train ? 0 : examples().train;
  return labelled_example(sequences_[first + index], spec_,
                          vocabulary() - (spec_.class_token ? 1 : 0));
}

std::uint64_t LabelledEvents::fingerprint() const {
  std::uint64_t hash = sequences_.size();
  for (const EventTable& events : sequences_) {
    hash = digest_of_elements(events.times, hash);
    hash = digest_of_elements(events.types.values, hash);
    hash = digest_of_elements(std::vector<std::int32_t>{events.label}, hash);
  }
  return examples_.fingerprint(
      "labelled_events", {hash, spec_.length, std::bit_cast<std::uint64_t>(spec_.validation)});
}

std::string LabelledEvents::describe() const {
  const std::string labels = classes() > 1 ? in_words(", ", classes(), " classes") : "";
  return in_words(format_number_of(sequences_.size(), "sequence"), " of events of ",
                  vocabulary() - (spec_.class_token ? 1 : 0), " types", labels,
                  merged_times_note(sequences_));
}

}  // namespace bochner
