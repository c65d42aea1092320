#pragma once
/// Events of files: from the rows of tables to windows of sequences.

#include <bochner/data/events/event_sequences.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/data/labelled/labelled.hpp>

namespace bochner {

/// Columns of a table of events, by name or by number from 1.
struct EventColumns {
  std::string time = "time", type = "type";  ///< type "": events have no types
  std::string sequence = "";                 ///< id of a sequence; "": all rows are one
  std::string label = "";                ///< label of a sequence, equal in all its rows; "": none
  std::vector<std::string> places = {};  ///< coordinates; none for events without a place
};
inline void describe(Keys& keys, EventColumns& columns) {
  keys.when(when("data.kind", {"event_files"}))(
      "type_column", columns.type,
      "column of types, texts or whole numbers from 0, by name or by number from 1; \"\" for "
      "events without types");
  keys.when(when("data.kind", {"event_files", "labelled_series"}), [&] {
    keys("sequence_column", columns.sequence,
         "column of numbers or texts that separate sequences; by default a file is one sequence");
  });
  keys.when(when("model.kind",
                 {"classifier", "bag_of_words", "contrastive", "filter_bank", "regressor"}))(
      "label_column", columns.label,
      "column of labels, texts or whole numbers from 0, the same in all rows of a sequence; the "
      "input of predict may lack it if columns after it are chosen by name");
}

struct TableShape {
  std::size_t width = 0;                             ///< columns
  std::vector<std::string> names = {};               ///< of columns; empty if the table has none
  std::vector<std::string> types = {}, labels = {};  ///< names of their numbers, if texts
  std::size_t known_types = 0;                       ///< types that a model has learned
  std::uint64_t has_dates = 0;                       ///< 1 if times are seconds since 1970
};
/// What becomes of types that are not in a TableShape: they are appended, are errors, or get the
/// number after the last one.
enum class NewTypes { append, refuse, other };
/// Replaces the texts of types and labels by their index in `shape`. Throws DataError for an
/// unknown label unless new ones are appended, and for numbers in one table and texts in another.
void number_texts(NamedArray& array, const EventColumns& columns, TableShape& shape,
                  NewTypes unknown);
/// Returns the columns of sequence, if any, and time.
std::vector<std::size_t> place_of_events(const NamedArray& array, const EventColumns& columns);
/// Returns "type_3", or "type_TEXT" if types are texts.
std::string numbered_name(const char* what, const std::vector<std::string>& texts,
                          std::size_t number);
/// Returns the columns of an input that may lack the labels: those of `data`, a table like the
/// training data, by name if both have names, else by number. Throws DataError if a column may be
/// missing before a number.
EventColumns columns_without_label(EventColumns columns, const TableShape& data,
                                   const NamedArray& input);

struct EventTable {
  Indices types;                    ///< (1, events)
  Times times;                      ///< (1, events), ascending
  std::vector<std::size_t> rows;    ///< rows of the source table
  std::int32_t label = 0;           ///< 0 without a column of labels
  std::vector<double> places = {};  ///< (events, d)
  std::size_t merged = 0;  ///< events whose time only differs from the one before in the table
};
/// Returns a note on merged times to append to the description; "" if there are none.
std::string merged_times_note(const std::vector<EventTable>& sequences);

/// Returns the sequences of a table in the order of their first rows. Without columns "time" and
/// "type" or other chosen ones, uses the column of time stamps and the other one, else the first
/// two. Throws DataError with the row where a time is earlier than the one before it in its
/// sequence, a type is not a whole number below `types`, or a label is not below most_event_types
/// or differs within its sequence; and for missing columns.
std::vector<EventTable> event_tables(const NamedArray& array, std::size_t types,
                                     const EventColumns& columns = {});

constexpr std::size_t most_event_types = 1 << 16;

struct EventFilesSpec {
  std::size_t length = 64;  ///< events per window (T)
  double validation = 0.1;  ///< see held_out_from()
  std::uint64_t seed = 1;   ///< of the training order
  std::size_t types = 0;    ///< lower bound
};

/// Windows of given sequences. Each event except the first of a sequence is predicted once, from
/// the events before it in its window. Sequences are held out like held_out_from(); the first
/// held-out event of a single sequence is predicted from the last training event. A batch is as
/// long as its longest window; shorter ones are padded with their last time and next_types of -1.
/// Throws DataError if a part has no event to predict.
class EventFiles : public EventSource {
 public:
  EventFiles(std::vector<EventTable> sequences, const EventFilesSpec& spec);
  /// Returns one more than the largest type of all events, and at least EventFilesSpec::types.
  std::size_t types() const override { return types_; }
  std::size_t dimensions() const override {
    return sequences_[0].places.size() / sequences_[0].times.size();
  }
  BoundingBox reach() const override;
  EventBatch batch(const Examples& examples) const override;
  std::uint64_t tokens_per_example() const override { return spec_.length; }
  std::uint64_t fingerprint() const override;

 protected:
  std::string describe() const override;

 private:
  /// Events begin, ..., end of a sequence; the first is context only.
  struct Window {
    std::size_t sequence, begin, end;
    std::size_t size() const { return end - begin; }
  };
  void cut(std::size_t sequence, std::size_t begin, std::size_t end, std::vector<Window>& windows);

  std::vector<EventTable> sequences_;
  EventFilesSpec spec_;
  std::vector<Window> train_, held_out_;
  std::size_t types_ = 0;
};

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

/// Returns the input of a classifier: the class token `types`, if any, and the last events.
LabelledExample labelled_example(const EventTable& events, const LabelledEventsSpec& spec,
                                 std::size_t types);

}  // namespace bochner
