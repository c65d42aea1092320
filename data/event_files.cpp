#include <algorithm>
#include <bit>
#include <bochner/data/event_files.hpp>
#include <bochner/data/files/amounts.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/files/errors.hpp>

namespace bochner {

EventFiles::EventFiles(std::vector<EventTable> sequences, const EventFilesSpec& spec)
    : sequences_(std::move(sequences)), spec_(spec) {
  require(!sequences_.empty() && spec.length >= 1, "event_files", "needs a sequence and an event");
  std::vector<std::size_t> events;
  for (const EventTable& sequence : sequences_) events.push_back(sequence.times.size());
  const std::vector<std::size_t> borders = held_out_from(events, spec.validation);
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    cut(i, 0, borders[i], train_);
    cut(i, std::max<std::size_t>(borders[i], 1) - 1, events[i], held_out_);
    for (const std::int32_t type : sequences_[i].types.values)
      types_ = std::max(types_, std::size_t(type) + 1);
  }
  if (train_.empty())
    throw DataError("there is no event to learn; add events or choose a smaller data.validation");
  if (held_out_.empty() && spec.validation > 0)
    throw DataError("there is no event to validate on; add events or set data.validation = 0");
  examples_ = {spec.seed, train_.size(), held_out_.size()};
}

void EventFiles::cut(std::size_t sequence, std::size_t begin, std::size_t end,
                     std::vector<Window>& windows) {
  for (; begin + 1 < end; begin += spec_.length)
    windows.push_back({sequence, begin, std::min(begin + spec_.length, end - 1)});
}

EventBatch EventFiles::batch(const Examples& examples) const {
  const std::vector<Window>& windows = examples.split == Split::train ? train_ : held_out_;
  std::size_t T = 0;
  for (const auto& number : examples.numbers) T = std::max(T, windows[number.index].size());
  EventBatch batch = empty_event_batch(examples.size(), T);
  for (std::size_t row = 0; row < examples.size(); ++row) {
    const Window& window = windows[examples.index(row)];
    const EventTable& events = sequences_[window.sequence];
    for (std::size_t t = 0; t < T; ++t) {
      const std::size_t from = std::min(window.begin + t, window.end), at = row * T + t;
      const bool is_last = from == window.end;
      batch.types.values[at] = events.types.values[from];
      batch.times.data()[at] = events.times(0, from);
      batch.next_types.values[at] = is_last ? -1 : events.types.values[from + 1];
      batch.next_times.data()[at] = events.times(0, is_last ? from : from + 1);
    }
  }
  return batch;
}

std::uint64_t EventFiles::fingerprint() const {
  std::uint64_t hash = sequences_.size();
  for (const EventTable& events : sequences_) {
    hash = digest_of_elements(events.times, hash);
    hash = digest_of_elements(events.types.values, hash);
  }
  return examples_.fingerprint(
      "event_files", {hash, spec_.length, std::bit_cast<std::uint64_t>(spec_.validation)});
}

std::string EventFiles::describe() const {
  std::size_t events = 0;
  for (const EventTable& sequence : sequences_) events += sequence.times.size();
  return format_number_of(sequences_.size(), "sequence") + ", " + std::to_string(events) +
         " events of " + format_number_of(types_, "type");
}

}  // namespace bochner
