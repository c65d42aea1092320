#pragma once
#include <bochner/autodiff/keys.hpp>
#include <bochner/autodiff/shape.hpp>
#include <bochner/autodiff/times.hpp>
#include <bochner/data/formats/array.hpp>

namespace bochner {

/// Columns of a table of events, by name or by number from 1.
struct EventColumns {
  std::string time = "time", type = "type";
  std::string sequence = "";  ///< of numbers that tell sequences apart; "": all rows are one
};
inline void describe(Keys& keys, EventColumns& columns) {
  keys("type_column", columns.type,
       "event_files: the column of types, whole numbers from 0, by name or by number from 1");
  keys("sequence_column", columns.sequence,
       "event_files: the column of numbers that tell sequences apart; by default a file is one "
       "sequence");
}

/// One sequence of events.
struct EventTable {
  Indices types;                  ///< (1, events)
  Times times;                    ///< (1, events), ascending
  std::vector<std::size_t> rows;  ///< of the table that they come from
};

/// The sequences of a table in the order of their first rows. If neither "time" and "type" nor
/// other columns are there, from the column of time stamps and the other one, else from the first
/// two. Throws DataError with the row where a time is before the one above it in its sequence, or a
/// type is no whole number below `types`; and for columns that are not there.
std::vector<EventTable> event_tables(const NamedArray& array, std::size_t types,
                                     const EventColumns& columns = {});

}  // namespace bochner
