#pragma once
/// Series in a table: the roles of columns, and the rows of each series.

#include <bochner/base/keys.hpp>
#include <bochner/data/formats/array.hpp>
#include <bochner/data/series/time_step.hpp>

namespace bochner {

struct TimeSeries {
  std::vector<std::string> names;      ///< names of the variates; empty if the table had none
  xt::xarray<double> values;           ///< (V, rows): a window of a variate is contiguous
  std::vector<double> times;           ///< (rows), increasing, or empty
  std::vector<std::string> id = {};    ///< id within its table
  xt::xarray<double> covariates = {};  ///< (C, rows): known beforehand, or empty
  WallClock clock = {};                ///< clock of days and months
  bool numeric_time = false;           ///< whether times are numbers but not seconds since 1970

  std::size_t variates() const { return values.shape()[0]; }
  std::size_t rows() const { return values.shape()[1]; }
  std::size_t channels() const { return covariates.dimension() == 2 ? covariates.shape()[0] : 0; }
  TimeStep time_step() const {
    return numeric_time ? TimeStep::of_numbers(times) : TimeStep(times, clock);
  }
  /// Returns a time as a date, or as a number if times are numeric.
  std::string time_text(double time) const;
};

/// Returns the named columns of a table (rows, columns) as variates, by default all except the
/// time. Throws DataError for missing columns, numbers not finite, and times that do not increase.
TimeSeries time_series(const NamedArray& table, const std::vector<std::string>& columns = {});

std::uint64_t fingerprint(const TimeSeries& series);

/// Roles of columns, by name or by number from 1.
struct SeriesColumns {
  std::vector<std::string> targets = {};   ///< empty: all without another role
  std::vector<std::string> series = {};    ///< ids of a series
  std::vector<std::string> known = {};     ///< known for future rows too
  std::vector<std::string> fixed = {};     ///< constant within a series
  std::vector<std::string> calendar = {};  ///< cycles of the time, as covariates
  std::vector<std::string> replaced = {};  ///< text columns replaced by with_indicators()

  /// Returns the covariates per row: a sine and a cosine for each cycle of the calendar.
  std::size_t covariates() const { return known.size() + fixed.size() + 2 * calendar.size(); }
  std::vector<std::string> others() const;
};
inline void describe(Keys& keys, SeriesColumns& columns) {
  keys.when(when("model.kind", {"forecaster", "ensemble", "contrastive"}))(
      "series", columns.series,
      "columns whose numbers or texts separate several series of a file, each with its own unit "
      "and splits");
  keys.when(when("model.kind", {"forecaster", "ensemble"}), [&] {
    keys("known", columns.known,
         "covariates known for the rows to come, such as prices and holidays; predict needs them");
    keys("static", columns.fixed, "covariates that are the same in all rows of a series");
    keys("calendar", columns.calendar, one_of(calendar_cycles),
         "covariates of the time stamps, each as a sine and a cosine");
  });
}

/// Id of a series and its rows, in the order of the table.
struct SeriesRows {
  std::vector<std::string> id;
  std::vector<std::size_t> rows;
};
/// Returns the series of a table in the order of their first rows; one series without id columns.
/// Throws DataError for a missing column and a row without id.
std::vector<SeriesRows> rows_of_series(const NamedArray& table,
                                       const std::vector<std::string>& columns);
std::string words_of(const std::vector<std::string>& id);

/// Returns the clock of these rows: the offsets of their stamps from UTC.
WallClock clock_of(const NamedArray& table, const std::vector<std::size_t>& rows);

/// Returns the target columns: those named, or all without another role that are not dates.
std::vector<std::size_t> target_columns(const NamedArray& table, const SeriesColumns& columns);

/// Returns the number of rows at the end that have a time but no targets: they are to be forecast.
std::size_t rows_to_forecast(const NamedArray& table, const SeriesColumns& columns,
                             const std::vector<std::size_t>& rows);
/// Replaces missing targets and covariates by those of the row before. Throws DataError for none.
void carry_forward(NamedArray& table, const SeriesColumns& columns,
                   const std::vector<std::size_t>& rows);

/// Returns the series of these rows, with its covariates. Throws DataError for targets or times
/// that are missing or not increasing, known values that are missing, static ones that change, and
/// calendars without times.
TimeSeries time_series(const NamedArray& table, const SeriesColumns& columns,
                       const SeriesRows& part);
/// Returns the covariates of `count` rows at these times, of which the table has the first; the
/// last row is repeated after them. (C, count)
xt::xarray<double> covariates_of(const NamedArray& table, const SeriesColumns& columns,
                                 const std::vector<std::size_t>& rows,
                                 const std::vector<double>& times, std::size_t count);

/// Texts of covariates, such as a holiday or a region: each becomes a column of zeros and ones.
using TextLevels = std::map<std::string, std::vector<std::string>>;

/// Returns the levels of the known and static columns that were read as texts. Throws DataError if
/// one holds numbers too, or too many texts.
TextLevels text_levels(const NamedArray& table, const SeriesColumns& columns);
/// Returns pairs of column and text as a flat list, to which merged_levels() adds those of `seen`.
std::vector<std::string> flattened_levels(const TextLevels& levels);
TextLevels merged_levels(const std::vector<std::string>& known, const TextLevels& seen);
/// Replaces the columns of `levels` by columns of zeros and ones appended to the table; a row
/// without text has none set. Throws DataError for an unknown text, and for texts in a column of
/// numbers.
SeriesColumns with_indicators(NamedArray& table, SeriesColumns columns, const TextLevels& levels);

}  // namespace bochner
