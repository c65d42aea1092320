#pragma once
/// Events of the user's: from the rows of tables to windows of sequences.

#include <bochner/data/events/event_sequences.hpp>
#include <bochner/data/formats/array.hpp>

namespace bochner {

/// Columns of a table of events, by name or by number from 1.
struct EventColumns {
  std::string time = "time", type = "type";
  std::string sequence = "";  ///< of what tells sequences apart; "": all rows are one
  std::string label = "";     ///< of labels of sequences, equal in all rows of one; "": none
  std::vector<std::string> places = {};  ///< of coordinates; none where events have no place
};
inline void describe(Keys& keys, EventColumns& columns) {
  keys("type_column", columns.type,
       "event_files: the column of types, texts or whole numbers from 0, by name or by number from "
       "1");
  keys(
      "sequence_column", columns.sequence,
      "event_files: the column of numbers or texts that tell sequences apart; by default a file is "
      "one sequence");
  keys("label_column", columns.label,
       "event_files for a classifier, texts: the column of labels, texts or whole numbers from 0, "
       "equal in "
       "all rows "
       "of a sequence; the input of predict may lack it, but not in front of a column that is "
       "chosen "
       "by number, unless both tables name their columns");
}

/// What a table of events looks like.
struct TableShape {
  std::size_t width = 0;                             ///< columns
  std::vector<std::string> names = {};               ///< of them; empty where the table has none
  std::vector<std::string> types = {}, labels = {};  ///< names of their numbers, if texts
  std::size_t known_types = 0;                       ///< types that a model has learned
};
/// Numbers the texts of types and labels as `shape` does, which takes over new ones if it may
/// `grow`. Throws DataError for a text that is not among them, and for numbers in one table and
/// texts in another.
void number_texts(NamedArray& array, const EventColumns& columns, TableShape& shape, bool grow);
/// "type_3", or with the text that it stands for.
std::string numbered_name(const char* what, const std::vector<std::string>& texts,
                          std::size_t number);
/// The columns of an input that need not have that of the labels: those of `data`, a table as the
/// model was trained on, found by name where both have names, else by the same number. Throws
/// DataError where a column may be missing in front of a number.
EventColumns columns_beside_label(EventColumns columns, const TableShape& data,
                                  const NamedArray& input);

/// One sequence of events.
struct EventTable {
  Indices types;                    ///< (1, events)
  Times times;                      ///< (1, events), ascending
  std::vector<std::size_t> rows;    ///< of the table that they come from
  std::int32_t label = 0;           ///< where there is a column of labels
  std::vector<double> places = {};  ///< (events, d)
  std::size_t merged = 0;           ///< events whose time, another in the table, became that before
};
/// What is to be known of the times of these sequences, behind their description; "" if nothing.
std::string words_of_merged_times(const std::vector<EventTable>& sequences);

/// The sequences of a table in the order of their first rows. If neither "time" and "type" are
/// there nor other columns chosen, from the column of time stamps and the other one, else from the
/// first two. Throws DataError with the row where a time is before the one above it in its
/// sequence, or a type is no whole number below `types`, or a label none below most_event_types or
/// another one than above it in its sequence; and for columns that are not there.
std::vector<EventTable> event_tables(const NamedArray& array, std::size_t types,
                                     const EventColumns& columns = {});

/// The largest number of types of events.
constexpr std::size_t most_event_types = 1 << 16;

struct EventFilesSpec {
  std::size_t length = 64;  ///< events that a model sees (T)
  double validation = 0.1;  ///< see held_out_from()
  std::uint64_t seed = 1;   ///< of the training order
  std::size_t types = 0;    ///< that there are at least
};

/// Windows of given sequences, in which each event but the first of a sequence is predicted once,
/// from those of its window before it. They are held out as held_out_from() says; of a single
/// sequence the first held-out event is predicted from the last training event.
/// A batch is as long as its longest window; behind the end of a shorter one its last time stands
/// still and next_types are -1. Throws DataError where a part has no event to predict.
class EventFiles : public EventSource {
 public:
  EventFiles(std::vector<EventTable> sequences, const EventFilesSpec& spec);
  /// One more than the largest of all events, and at least as many as the spec says.
  std::size_t types() const override { return types_; }
  std::size_t dimensions() const override;
  BoundingBox reach() const override;
  EventBatch batch(const Examples& examples) const override;
  std::uint64_t tokens_per_example() const override { return spec_.length; }
  std::uint64_t fingerprint() const override;

 protected:
  std::string describe() const override;

 private:
  /// The events begin, ..., end of a sequence, of which the first is seen and not predicted.
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

}  // namespace bochner
