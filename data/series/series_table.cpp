#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/formats/csv_dialect.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/series_table.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bochner {
namespace {

constexpr const char* fill_in =
    "a series needs finite numbers; fill in what is missing or choose other columns";

std::vector<std::size_t> columns_called(const NamedArray& table,
                                        const std::vector<std::string>& names) {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) columns.push_back(require_column(table, name));
  return columns;
}

void require_series_table(const NamedArray& table) {
  if (table.values.dimension() != 2)
    throw DataError("a series is a table of rows and columns, not an array of ",
                    table.values.dimension(), " axes");
}

std::string place(const NamedArray& table, std::size_t row, std::size_t column) {
  return in_words("row ", row + 1, ", column ", column_name(table, column));
}

double finite_number(const NamedArray& table, std::size_t row, std::size_t column,
                     const char* advice) {
  const double number = table.values(row, column);
  if (std::abs(number) <= double(std::numeric_limits<float>::max())) return number;
  throw DataError(
      place(table, row, column), ": ",
      std::isfinite(number) ? format_number(number) + " exceeds the range of float32" : advice);
}

std::vector<double> increasing_times(const NamedArray& table,
                                     const std::vector<std::size_t>& rows) {
  std::vector<double> times;
  if (!table.time) return times;
  for (const std::size_t row : rows) {
    const double time = finite_number(table, row, *table.time, fill_in);
    if (!times.empty() && time <= times.back())
      throw DataError(place(table, row, *table.time),
                      std::ranges::binary_search(times, time)
                          ? ": " + time_text(time, table.numeric_time) +
                                " is repeated; remove a row, or name the "
                                "column of series ids as data.series"
                          : ": time must increase from row to row; sort the rows");
    times.push_back(time);
  }
  return times;
}

std::string text_at(const NamedArray& table, std::size_t row, std::size_t column) {
  const double value = table.values(row, column);
  if (std::isnan(value))
    throw DataError(place(table, row, column), ": is missing, so the row belongs to no series");
  const auto texts = table.texts.find(column);
  return texts == table.texts.end() ? format_number(value) : texts->second.at(std::size_t(value));
}

/// Returns the value of a static column.
double fixed_number(const NamedArray& table, const std::vector<std::size_t>& rows,
                    std::size_t column) {
  const double first = finite_number(table, rows[0], column, "a static column needs a value");
  for (const std::size_t row : rows) {
    const double value = table.values(row, column);
    if (!std::isnan(value) && value != first)
      throw DataError(place(table, row, column),
                      ": changes within its series, so it is not static; name it in data.known");
  }
  return first;
}

constexpr std::size_t most_levels = 64;
constexpr double no_text = std::numeric_limits<double>::quiet_NaN();

std::optional<std::size_t> index_of(const NamedArray& table, const std::string& name) {
  return find_column(table.columns, table.values.shape()[1], name);
}

bool is_number(const std::string& text) {
  return parse_number(text, '.').has_value() || parse_number(text, ',').has_value();
}

/// Returns the level of each row; NaN without a text.
std::vector<double> levels_of_rows(const NamedArray& table, std::size_t column,
                                   const std::string& name,
                                   const std::vector<std::string>& levels) {
  const auto texts = table.texts.find(column);
  std::vector<double> numbers;
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row) {
    const double value = table.values(row, column);
    numbers.push_back(no_text);
    if (std::isnan(value)) continue;
    const std::string text =
        texts == table.texts.end() ? format_number(value) : texts->second.at(std::size_t(value));
    const auto found = std::ranges::find(levels, text);
    if (found == levels.end())
      throw DataError("row ", row + 1, ", column ", name, ": the model does not know ",
                      excerpt(text), "; it was trained on ", excerpt(levels.front()), " and ",
                      levels.size() - 1, " more");
    numbers.back() = double(found - levels.begin());
  }
  return numbers;
}

/// Appends an indicator column for each level, `without` where a row has none. Returns their names.
std::vector<std::string> append_indicators(NamedArray& table, const std::string& name,
                                           const std::vector<std::string>& levels,
                                           const std::vector<double>& level, double without) {
  const std::size_t rows = table.values.shape()[0], width = table.values.shape()[1],
                    n = levels.size();
  auto wider = xt::xarray<double>::from_shape({rows, width + n});
  for (std::size_t row = 0; row < rows; ++row) {
    double* to = wider.data() + row * (width + n);
    std::copy_n(table.values.data() + row * width, width, to);
    for (std::size_t i = 0; i < n; ++i)
      to[width + i] = std::isnan(level[row]) ? without : double(level[row] == double(i));
  }
  table.values = std::move(wider);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i)
    names.push_back(table.columns.empty() ? std::to_string(width + i + 1)
                                          : name + " = " + levels[i]);
  if (!table.columns.empty()) table.columns.insert(table.columns.end(), names.begin(), names.end());
  return names;
}

void replace_texts(NamedArray& table, std::vector<std::string>& names, const TextLevels& levels,
                   double without, std::vector<std::string>& replaced) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    const auto found = levels.find(name);
    if (found == levels.end()) {
      if (const auto column = index_of(table, name); column && table.texts.contains(*column))
        throw DataError("column ", name, ": holds texts, but the model learned numbers");
      all.push_back(name);
      continue;
    }
    const std::vector<double> level =
        levels_of_rows(table, require_column(table, name), name, found->second);
    const auto more = append_indicators(table, name, found->second, level, without);
    all.insert(all.end(), more.begin(), more.end());
    replaced.push_back(name);
  }
  names = std::move(all);
}

}  // namespace

TimeSeries time_series(const NamedArray& table, const std::vector<std::string>& columns) {
  return time_series(table, {.targets = columns}, rows_of_series(table, {}).front());
}

std::string TimeSeries::time_text(double time) const {
  return bochner::time_text(time, numeric_time);
}

std::uint64_t fingerprint(const TimeSeries& series) {
  std::uint64_t hash = digest_of_elements(series.values, series.variates());
  hash = digest_of_elements(series.times, hash);
  for (const std::string& name : series.names) hash = digest_of_elements(name, hash);
  for (const std::string& part : series.id) hash = digest_of_elements(part, hash);
  if (series.channels() > 0) hash = digest_of_elements(series.covariates, hash);
  return hash;
}

std::vector<std::string> SeriesColumns::others() const {
  std::vector<std::string> names = series;
  names.insert(names.end(), known.begin(), known.end());
  names.insert(names.end(), fixed.begin(), fixed.end());
  names.insert(names.end(), replaced.begin(), replaced.end());
  return names;
}

std::vector<SeriesRows> rows_of_series(const NamedArray& table,
                                       const std::vector<std::string>& columns) {
  require_series_table(table);
  const std::vector<std::size_t> ids = columns_called(table, columns);
  std::vector<SeriesRows> all;
  if (ids.empty()) {
    all.push_back({{}, std::vector<std::size_t>(table.values.shape()[0])});
    std::iota(all[0].rows.begin(), all[0].rows.end(), std::size_t(0));
    return all;
  }
  std::map<std::vector<std::string>, std::size_t> places;
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row) {
    std::vector<std::string> id;
    for (const std::size_t column : ids) id.push_back(text_at(table, row, column));
    const auto [found, is_new] = places.try_emplace(id, all.size());
    if (is_new) all.push_back({id, {}});
    all[found->second].rows.push_back(row);
  }
  return all;
}

std::string words_of(const std::vector<std::string>& id) {
  return joined(id, ", ", [](const std::string& part) { return printable(part); });
}

WallClock clock_of(const NamedArray& table, const std::vector<std::size_t>& rows) {
  if (table.offsets.empty() || !table.time) return {};
  std::vector<double> times, offsets;
  for (const std::size_t row : rows) {
    times.push_back(table.values(row, *table.time));
    offsets.push_back(table.offsets.at(row));
  }
  return {times, offsets};
}

std::vector<std::size_t> target_columns(const NamedArray& table, const SeriesColumns& columns) {
  if (!columns.targets.empty()) return columns_called(table, columns.targets);
  const std::vector<std::size_t> others = columns_called(table, columns.others());
  std::vector<std::size_t> targets;
  for (std::size_t i = 0; i < table.values.shape()[1]; ++i)
    if (i != table.time && std::ranges::count(others, i) == 0 &&
        std::ranges::count(table.more_times, i) == 0)
      targets.push_back(i);
  return targets;
}

std::size_t rows_to_forecast(const NamedArray& table, const SeriesColumns& columns,
                             const std::vector<std::size_t>& rows) {
  if (!table.time && columns.known.empty()) return 0;
  const std::vector<std::size_t> targets = target_columns(table, columns);
  const auto is_empty = [&](std::size_t row) {
    return std::ranges::all_of(targets,
                               [&](std::size_t i) { return std::isnan(table.values(row, i)); });
  };
  std::size_t asked = 0;
  while (!targets.empty() && asked < rows.size() && is_empty(rows[rows.size() - 1 - asked]))
    ++asked;
  return asked;
}

void carry_forward(NamedArray& table, const SeriesColumns& columns,
                   const std::vector<std::size_t>& rows) {
  std::vector<std::size_t> filled = target_columns(table, columns);
  for (const auto* names : {&columns.known, &columns.fixed})
    for (const std::size_t column : columns_called(table, *names)) filled.push_back(column);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const std::size_t column : filled) {
      double& value = table.values(rows[i], column);
      if (!std::isnan(value)) continue;
      if (i == 0)
        throw DataError(place(table, rows[i], column),
                        ": is missing in the first row of its series, so nothing can be carried "
                        "forward");
      value = table.values(rows[i - 1], column);
    }
}

TimeSeries time_series(const NamedArray& table, const SeriesColumns& columns,
                       const SeriesRows& part) {
  require_series_table(table);
  const std::vector<std::size_t> targets = target_columns(table, columns);
  if (targets.empty()) throw DataError("there is no column of numbers next to the time");
  TimeSeries series;
  series.id = part.id;
  series.times = increasing_times(table, part.rows);
  series.clock = clock_of(table, part.rows);
  series.numeric_time = table.numeric_time;
  series.values.resize({targets.size(), part.rows.size()});
  for (std::size_t v = 0; v < targets.size(); ++v) {
    if (!table.columns.empty()) series.names.push_back(table.columns[targets[v]]);
    for (std::size_t i = 0; i < part.rows.size(); ++i)
      series.values(v, i) = finite_number(table, part.rows[i], targets[v], fill_in);
  }
  if (columns.covariates() > 0)
    series.covariates = covariates_of(table, columns, part.rows, series.times, part.rows.size());
  return series;
}

xt::xarray<double> covariates_of(const NamedArray& table, const SeriesColumns& columns,
                                 const std::vector<std::size_t>& rows,
                                 const std::vector<double>& times, std::size_t count) {
  auto values = xt::xarray<double>::from_shape({columns.covariates(), count});
  std::size_t channel = 0;
  for (const std::size_t column : columns_called(table, columns.known)) {
    for (std::size_t i = 0; i < count; ++i)
      values(channel, i) =
          finite_number(table, rows[std::min(i, rows.size() - 1)], column,
                        "is missing; columns of data.known need values in future rows too");
    ++channel;
  }
  for (const std::size_t column : columns_called(table, columns.fixed)) {
    const double value = fixed_number(table, rows, column);
    for (std::size_t i = 0; i < count; ++i) values(channel, i) = value;
    ++channel;
  }
  if (!columns.calendar.empty() && times.size() < count)
    throw DataError("data.calendar needs a column of time stamps; name it as data.time_column");
  const auto is_of_dates = [](const std::string& cycle) {
    return cycle != "minute" && cycle != "hour";
  };
  if (table.numeric_time && std::ranges::any_of(columns.calendar, is_of_dates))
    throw DataError(
        "data.calendar needs dates, but the times are numbers that are not seconds "
        "since 1970; remove it, or write the times as dates");
  for (const std::string& cycle : columns.calendar) {
    for (std::size_t i = 0; i < count; ++i) {
      const double turn = 2 * std::numbers::pi * phase_in(cycle, times[i]);
      values(channel, i) = std::sin(turn);
      values(channel + 1, i) = std::cos(turn);
    }
    channel += 2;
  }
  return values;
}

TextLevels text_levels(const NamedArray& table, const SeriesColumns& columns) {
  TextLevels levels;
  for (const auto* names : {&columns.known, &columns.fixed})
    for (const std::string& name : *names) {
      const auto column = index_of(table, name);
      if (!column || !table.texts.contains(*column)) continue;
      const std::vector<std::string>& texts = table.texts.at(*column);
      const auto word = std::ranges::find_if_not(texts, is_number);
      if (std::ranges::any_of(texts, is_number) && word != texts.end())
        throw DataError("column ", name, ": holds numbers and texts such as ", excerpt(*word),
                        "; write all as numbers, or all as texts");
      if (texts.size() > most_levels)
        throw DataError("column ", name, ": ", texts.size(), " texts, but ",
                        "covariates have at most ", most_levels);
      levels[name] = texts;
    }
  return levels;
}

std::vector<std::string> flattened_levels(const TextLevels& levels) {
  std::vector<std::string> all;
  for (const auto& [column, texts] : levels)
    for (const std::string& text : texts) all.insert(all.end(), {column, text});
  return all;
}

TextLevels merged_levels(const std::vector<std::string>& known, const TextLevels& seen) {
  TextLevels levels;
  for (std::size_t i = 0; i + 1 < known.size(); i += 2) levels[known[i]].push_back(known[i + 1]);
  for (const auto& [column, texts] : seen)
    for (const std::string& text : texts)
      if (std::ranges::count(levels[column], text) == 0) levels[column].push_back(text);
  return levels;
}

SeriesColumns with_indicators(NamedArray& table, SeriesColumns columns, const TextLevels& levels) {
  std::vector<std::string> replaced;
  replace_texts(table, columns.known, levels, 0, replaced);
  replace_texts(table, columns.fixed, levels, no_text, replaced);
  columns.replaced = std::move(replaced);
  return columns;
}

}  // namespace bochner
