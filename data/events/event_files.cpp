#include <bit>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/events/event_files.hpp>
#include <bochner/data/files/digest.hpp>
#include <cmath>

namespace bochner {
namespace {

using Column = std::optional<std::size_t>;

struct Columns {
  std::size_t time;
  Column type, sequence, label;
  std::vector<std::size_t> places = {};
};

Column column_called(const NamedArray& array, const std::string& wanted) {
  return find_column(array.columns, array.values.shape()[1], wanted);
}

Columns columns_without_places(const NamedArray& array, const EventColumns& wanted) {
  const auto optional = [&](const std::string& name) {
    return name.empty() ? std::nullopt : Column(require_column(array, name));
  };
  const Column sequence = optional(wanted.sequence), label = optional(wanted.label);
  const bool open = !sequence && !label && wanted.time == "time" && wanted.type == "type" &&
                    !(column_called(array, wanted.time) && column_called(array, wanted.type));
  if (open && array.time) return {*array.time, *array.time == 0 ? 1u : 0u, sequence, label};
  if (open) return {0, 1, sequence, label};
  return {require_column(array, wanted.time), optional(wanted.type), sequence, label};
}

Columns columns_of(const NamedArray& array, const EventColumns& wanted) {
  Columns columns = columns_without_places(array, wanted);
  for (const std::string& place : wanted.places)
    columns.places.push_back(require_column(array, place));
  return columns;
}

template <class... Parts>
[[noreturn]] void refuse(std::size_t row, const Parts&... problem) {
  throw DataError("row ", row + 1, ": ", problem...);
}

std::vector<std::vector<std::size_t>> rows_of_sequences(const NamedArray& array, Column column) {
  std::vector<std::vector<std::size_t>> rows;
  std::map<double, std::size_t> numbers;
  for (std::size_t row = 0; row < array.values.shape()[0]; ++row) {
    const double name = column ? array.values(row, *column) : 0;
    if (!std::isfinite(name)) refuse(row, "its sequence is missing");
    const auto [found, is_new] = numbers.try_emplace(name, rows.size());
    if (is_new) rows.emplace_back();
    rows[found->second].push_back(row);
  }
  return rows;
}

bool is_count_below(double number, std::size_t limit) {
  return number >= 0 && number < double(limit) && number == std::floor(number);
}

std::int32_t label_of(const NamedArray& array, std::size_t column,
                      const std::vector<std::size_t>& rows) {
  const double label = array.values(rows.front(), column);
  for (const std::size_t row : rows) {
    if (!is_count_below(array.values(row, column), most_event_types))
      refuse(row, "its label must be a whole number from 0 to ", most_event_types - 1);
    if (array.values(row, column) != label)
      refuse(row, "its label is not that of row ", rows.front() + 1, " of the same sequence");
  }
  return std::int32_t(label);
}

EventTable table_of(const NamedArray& array, const Columns& columns, std::size_t types,
                    std::vector<std::size_t> rows) {
  const std::size_t n = rows.size();
  EventTable table{{{1, n}, {}}, Times(std::vector<std::size_t>{1, n}), std::move(rows)};
  if (columns.label) table.label = label_of(array, *columns.label, table.rows);
  const auto found = array.merged.find(columns.time);
  const std::vector<std::size_t>* merged = found == array.merged.end() ? nullptr : &found->second;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t row = table.rows[i];
    const double time = array.values(row, columns.time),
                 type = columns.type ? array.values(row, *columns.type) : 0;
    if (!std::isfinite(time)) refuse(row, "its time is missing");
    if (i > 0 && time < table.times(0, i - 1))
      refuse(row, "its time is before that of row ", table.rows[i - 1] + 1,
             "; sort the rows by time");
    if (!is_count_below(type, types))
      refuse(row, "its type must be a whole number from 0 to ", types - 1);
    for (const std::size_t column : columns.places) {
      table.places.push_back(array.values(row, column));
      if (!std::isfinite(table.places.back())) refuse(row, "a coordinate is missing");
    }
    const bool is_next = i > 0 && row == table.rows[i - 1] + 1;
    if (is_next && merged && std::ranges::binary_search(*merged, row)) ++table.merged;
    table.times(0, i) = time;
    table.types.values.push_back(std::int32_t(type));
  }
  return table;
}

/// Returns the index in `known` of each text of a column.
std::vector<double> numbers_of(const std::vector<std::string>& texts,
                               std::vector<std::string>& known, const char* what,
                               NewTypes unknown) {
  std::map<std::string, std::size_t> places;
  for (const std::string& text : known) places.emplace(text, places.size());
  const std::size_t other = known.size();
  std::vector<double> numbers;
  for (const std::string& text : texts) {
    const auto place = places.find(text);
    if (place == places.end() && unknown == NewTypes::refuse)
      throw DataError("the model does not know the ", what, " ", excerpt(text),
                      "; it was trained on ", excerpt(known.front()), " and ", known.size() - 1,
                      " more");
    numbers.push_back(double(place == places.end() ? other : place->second));
    if (place != places.end() || unknown != NewTypes::append) continue;
    numbers.back() = double(places.size());
    places.emplace(text, places.size());
    known.push_back(text);
  }
  return numbers;
}

/// Replaces the texts of a column by indices that are equal in all tables.
void number_column(NamedArray& array, std::size_t column, std::vector<std::string>& known,
                   const char* what, bool is_first, NewTypes unknown) {
  const auto found = array.texts.find(column);
  const bool is_text = found != array.texts.end();
  if (!is_text && known.empty()) return;
  if (!is_text || (known.empty() && !is_first))
    throw DataError("column ", column_name(array, column), ": ", what, "s are ",
                    is_text ? "texts" : "numbers", " here and ", is_text ? "numbers" : "texts",
                    " in the other data; write them alike");
  const std::vector<double> numbers = numbers_of(found->second, known, what, unknown);
  const std::size_t width = array.values.shape()[1];
  for (std::size_t i = column; i < array.values.size(); i += width) {
    double& value = array.values.data()[i];
    if (!std::isnan(value)) value = numbers[std::size_t(value)];
  }
  found->second = known;
}

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

void number_texts(NamedArray& array, const EventColumns& columns, TableShape& shape,
                  NewTypes unknown) {
  if (array.values.dimension() != 2 || array.values.size() == 0) return;
  const Columns chosen = columns_of(array, columns);
  const bool is_first = unknown == NewTypes::append && shape.width == 0;
  const bool has_dates = array.time == chosen.time && !array.numeric_time;
  if (unknown == NewTypes::append) shape.has_dates = has_dates && (is_first || shape.has_dates);
  if (chosen.type) number_column(array, *chosen.type, shape.types, "type", is_first, unknown);
  if (chosen.type && unknown == NewTypes::other)
    for (std::size_t row = 0; row < array.values.shape()[0]; ++row) {
      double& type = array.values(row, *chosen.type);
      if (type == std::floor(type)) type = std::min(type, double(shape.known_types));
    }
  if (chosen.label)
    number_column(array, *chosen.label, shape.labels, "label", is_first,
                  unknown == NewTypes::append ? unknown : NewTypes::refuse);
}

std::vector<std::size_t> place_of_events(const NamedArray& array, const EventColumns& columns) {
  const Columns chosen = columns_without_places(array, columns);
  if (chosen.sequence) return {*chosen.sequence, chosen.time};
  return {chosen.time};
}

std::string numbered_name(const char* what, const std::vector<std::string>& texts,
                          std::size_t number) {
  return in_words(what, "_", number < texts.size() ? texts[number] : std::to_string(number));
}

EventColumns columns_without_label(EventColumns columns, const TableShape& data,
                                   const NamedArray& input) {
  const std::size_t width = input.values.dimension() == 2 ? input.values.shape()[1] : 0;
  const Column label = find_column(data.names, data.width, columns.label);
  for (std::string* name : {&columns.time, &columns.type, &columns.sequence}) {
    const Column there = find_column(data.names, data.width, *name);
    if (!there) continue;
    const bool counted = input.columns.empty() || parse_count(*name);
    if (!data.names.empty() && std::ranges::count(input.columns, data.names[*there]) > 0)
      *name = data.names[*there];
    else if (counted && label && *there > *label && width < data.width)
      throw DataError("the input has ", width, " columns, the training data ", data.width,
                      ", where column ", *there + 1, " follows the labels; keep ",
                      "the label column with any values, or name the columns of both");
    else if (counted)
      *name = std::to_string(*there + 1);
  }
  columns.label = "";
  return columns;
}

std::vector<EventTable> event_tables(const NamedArray& array, std::size_t types,
                                     const EventColumns& columns) {
  const std::size_t fewest = columns.type.empty() ? 1 : 2;
  if (array.values.dimension() != 2 || array.values.shape()[1] < fewest || array.values.size() == 0)
    throw DataError("events need a table with columns of times and of types");
  const Columns chosen = columns_of(array, columns);
  std::vector<EventTable> tables;
  for (std::vector<std::size_t>& rows : rows_of_sequences(array, chosen.sequence))
    tables.push_back(table_of(array, chosen, types, std::move(rows)));
  return tables;
}

std::string merged_times_note(const std::vector<EventTable>& sequences) {
  std::size_t merged = 0;
  for (const EventTable& events : sequences) merged += events.merged;
  if (merged == 0) return "";
  return "; " + format_number_of(merged, "event") +
         " at the time of the one before, because double precision cannot tell them apart; give "
         "times from a later origin";
}

EventFiles::EventFiles(std::vector<EventTable> sequences, const EventFilesSpec& spec)
    : sequences_(std::move(sequences)), spec_(spec), types_(spec.types) {
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
    throw DataError(
        "there is no event to train on; add events or choose a smaller data.validation");
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
  const std::size_t d = dimensions();
  for (std::size_t row = 0; row < examples.size(); ++row) {
    const Window& window = windows[examples.index(row)];
    const EventTable& events = sequences_[window.sequence];
    for (std::size_t t = 0; t < T; ++t) {
      const std::size_t from = std::min(window.begin + t, window.end), at = row * T + t;
      const bool is_last = from == window.end;
      batch.types.values[at] = events.types.values[from];
      const auto place = events.places.begin() + std::ptrdiff_t(from * d);
      batch.places.insert(batch.places.end(), place, place + std::ptrdiff_t(d));
      batch.times.data()[at] = events.times(0, from);
      batch.next_types.values[at] = is_last ? -1 : events.types.values[from + 1];
      batch.next_times.data()[at] = events.times(0, is_last ? from : from + 1);
    }
  }
  return batch;
}

BoundingBox EventFiles::reach() const {
  std::vector<double> places;
  for (const Window& window : train_) {
    const auto& all = sequences_[window.sequence].places;
    const std::size_t d = dimensions();
    places.insert(places.end(), all.begin() + std::ptrdiff_t(window.begin * d),
                  all.begin() + std::ptrdiff_t((window.end + 1) * d));
  }
  return bounding_box_of(places, dimensions());
}

std::uint64_t EventFiles::fingerprint() const {
  std::uint64_t hash = sequences_.size();
  for (const EventTable& events : sequences_) {
    hash = digest_of_elements(events.times, hash);
    hash = digest_of_elements(events.types.values, hash);
    if (!events.places.empty()) hash = digest_of_elements(events.places, hash);
  }
  return examples_.fingerprint(
      "event_files", {hash, spec_.length, std::bit_cast<std::uint64_t>(spec_.validation)});
}

std::string EventFiles::describe() const {
  std::size_t events = 0;
  for (const EventTable& sequence : sequences_) events += sequence.times.size();
  return in_words(format_number_of(sequences_.size(), "sequence"), ", ", events, " events of ",
                  format_number_of(types_, "type"), merged_times_note(sequences_));
}

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
