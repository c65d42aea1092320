#pragma once
/// Series of a table: which of its columns are what, and which of its rows are whose.

#include <bochner/base/keys.hpp>
#include <bochner/data/series/calendar.hpp>
#include <bochner/data/series/time_series.hpp>

namespace bochner {

/// Columns by name or by number from 1.
struct SeriesColumns {
  std::vector<std::string> targets = {};   ///< none for all that are nothing else
  std::vector<std::string> series = {};    ///< what tells series apart
  std::vector<std::string> known = {};     ///< of the rows to come too
  std::vector<std::string> fixed = {};     ///< the same in all rows of a series
  std::vector<std::string> calendar = {};  ///< what of the time
  std::vector<std::string> replaced = {};  ///< texts that others stand for: with_indicators()

  /// Channels of a row: a sine and a cosine for each cycle of the calendar.
  std::size_t covariates() const { return known.size() + fixed.size() + 2 * calendar.size(); }
  /// Columns that are no targets.
  std::vector<std::string> others() const;
};
inline void describe(Keys& keys, SeriesColumns& columns) {
  keys("series", columns.series,
       "series: the column, or columns, whose numbers or texts tell several series of a file "
       "apart; each has a unit and splits of its own");
  keys("known", columns.known,
       "series: columns that are known of the rows to come, such as prices and holidays: "
       "covariates, which predict is to be given for them");
  keys("static", columns.fixed,
       "series: columns that are the same in all rows of a series: covariates");
  keys("calendar", columns.calendar, one_of(calendar_cycles),
       "series: what of the time stamps are covariates: minute of the hour, hour of the day, "
       "weekday, day of the month, month of the year, each as a sine and a cosine");
}

/// Rows of a table, in its order, and the texts that say whose they are.
struct SeriesRows {
  std::vector<std::string> id;
  std::vector<std::size_t> rows;
};
/// In the order of their first rows; all rows without columns that tell them apart. Throws
/// DataError for a column that is not there and for a row without them.
std::vector<SeriesRows> rows_of_series(const NamedArray& table,
                                       const std::vector<std::string>& columns);
/// "north, 3"
std::string words_of(const std::vector<std::string>& id);

/// What the stamps of these rows say of their offsets from UTC.
WallClock clock_of(const NamedArray& table, const std::vector<std::size_t>& rows);

/// Rows at the end that have a time and no targets: they are asked for.
std::size_t rows_asked_for(const NamedArray& table, const SeriesColumns& columns,
                           const std::vector<std::size_t>& rows);
/// Missing targets and covariates become those of the row before. Throws DataError where there is
/// none.
void carry_forward(NamedArray& table, const SeriesColumns& columns,
                   const std::vector<std::size_t>& rows);

/// The series of these rows, with its covariates. Throws DataError as the other one does, for known
/// values that are missing, static ones that change, and calendars without times.
TimeSeries time_series(const NamedArray& table, const SeriesColumns& columns,
                       const SeriesRows& part);
/// Covariates of `count` rows at these times, of which the table has the first; behind them the
/// last row is repeated. (C, count)
xt::xarray<double> covariates_of(const NamedArray& table, const SeriesColumns& columns,
                                 const std::vector<std::size_t>& rows,
                                 const std::vector<double>& times, std::size_t count);

}  // namespace bochner
