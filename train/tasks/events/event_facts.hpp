#pragma once
/// Facts of models of events: number and names of types, and the length of a window.

#include <bochner/train/tasks/events/event_data.hpp>
#include <bochner/train/tasks/serialize.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, EventBatch& batch) {
  serialize_indices(archive, batch.types);
  serialize_indices(archive, batch.next_types);
  serialize_array(archive, batch.times);
  serialize_array(archive, batch.next_times);
  archive(batch.places);
}

struct EventFacts {
  static constexpr const char* kind = "events";
  std::uint64_t types = 2;
  std::uint64_t dimensions = 0;  ///< of the places of events
  std::uint64_t length = 64;     ///< events of a training window
  TableShape table = {};         ///< of files
  std::vector<EventBatch> specimens = {};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(types, dimensions, length, table, specimens);
  }
  void check() const;
};

/// Returns facts for a model without data, from the config alone.
EventFacts assumed_event_facts(const Config& config);

/// Events with their types numbered as in the facts.
struct OpenedEvents {
  std::unique_ptr<EventSource> data;
  EventFacts facts;
};
/// Opens the events of a config. Throws DataError for data that do not fit known facts, if they may
/// not extend these.
OpenedEvents open_events(const Config& config, const KnownFacts& known);

/// Cuts rows of a table into windows as in training, types numbered as in the facts.
std::vector<EventTable> windows_of_table(const NamedArray& table, const EventColumns& columns,
                                         const EventFacts& facts);
/// Returns column names "type_0", ... or "type_NAME", ...
std::vector<std::string> type_columns(const EventFacts& facts);

}  // namespace bochner
