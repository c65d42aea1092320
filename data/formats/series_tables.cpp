#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/series_tables.hpp>
#include <cmath>
#include <numeric>

namespace bochner {
namespace {

/// Returns whether all labels are empty or numbers.
bool are_numbers_or_empty(const RealSeriesSet& set) {
  return std::ranges::all_of(set.series, [](const RealSeries& series) {
    return series.label.empty() || parse_number(series.label);
  });
}

float stored_value(double value, std::size_t row) {
  const float stored = float(value);
  if (std::isinf(stored))
    throw DataError("row ", row + 1, ": ", format_number(value), " is too large");
  return stored;
}

/// Returns the text of a cell: a text, or a number.
std::string text_in(const NamedArray& table, std::size_t row, std::size_t column) {
  const double value = table.values(row, column);
  if (std::isnan(value)) return "";
  const auto texts = table.texts.find(column);
  return texts == table.texts.end() ? format_number(value) : texts->second.at(std::size_t(value));
}

/// Returns a label of a row; numbers in any format of a decimal are one label.
std::string label_in(const NamedArray& table, std::size_t row, std::size_t column) {
  const std::string text = text_in(table, row, column);
  if (text.find_first_of(".eE") == text.npos) return text;
  const std::optional<double> number = parse_number(text);
  return number ? format_number(*number) : text;
}

void require_table(const NamedArray& table) {
  if (table.values.dimension() != 2)
    throw DataError("is an array of ", table.values.dimension(), " axes, not a table");
}

std::optional<std::size_t> column_called(const NamedArray& table, const std::string& name) {
  return find_column(table.columns, table.values.shape()[1], name);
}

std::optional<std::size_t> label_column(const NamedArray& table, const RealSeriesColumns& columns,
                                        bool needed) {
  return needed ? require_column(table, columns.label) : column_called(table, columns.label);
}

std::optional<std::size_t> time_of(const NamedArray& table, const RealSeriesColumns& columns) {
  return columns.time.empty() ? table.time : column_called(table, columns.time);
}

/// Returns the chosen channels, or the columns of numbers that are neither the id nor the label nor
/// times.
std::vector<std::size_t> channels_of(const NamedArray& table, const RealSeriesColumns& columns) {
  std::vector<std::size_t> channels;
  for (const std::string& name : columns.channels) channels.push_back(require_column(table, name));
  if (!channels.empty()) return channels;
  const auto series = column_called(table, columns.series),
             label = column_called(table, columns.label), time = time_of(table, columns);
  for (std::size_t c = 0; c < table.values.shape()[1]; ++c)
    if (c != series && c != label && c != time && !table.texts.contains(c) &&
        !std::ranges::count(table.more_times, c))
      channels.push_back(c);
  if (channels.empty()) throw DataError("has no column of numbers beside series and label");
  return channels;
}

/// Returns the values and times of rows of a long table.
RealSeries series_of_some_rows(const NamedArray& table, const RealSeriesColumns& columns,
                               const std::vector<std::size_t>& channels,
                               const std::vector<std::size_t>& rows) {
  RealSeries series;
  for (const std::size_t channel : channels)
    for (const std::size_t row : rows)
      series.values.push_back(stored_value(table.values(row, channel), row));
  const auto column = time_of(table, columns);
  if (!column) return series;
  for (const std::size_t row : rows) {
    const double time = table.values(row, *column);
    if (std::isnan(time)) throw DataError("row ", row + 1, ": has no time");
    if (!series.times.empty() && !(time > series.times.back()))
      throw DataError("row ", row + 1,
                      ": its time is not after that of the row before in its "
                      "series; sort the rows");
    series.times.push_back(time);
  }
  return series;
}

/// Returns the rows of each series, and the ids in the order of their first rows.
std::pair<std::vector<double>, std::map<double, std::vector<std::size_t>>> rows_by_id(
    const NamedArray& table, std::size_t id) {
  std::vector<double> ids;
  std::map<double, std::vector<std::size_t>> rows;
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row) {
    if (std::isnan(table.values(row, id)))
      throw DataError("row ", row + 1, ": has no series in column ", column_name(table, id));
    std::vector<std::size_t>& of_series = rows[table.values(row, id)];
    if (of_series.empty()) ids.push_back(table.values(row, id));
    of_series.push_back(row);
  }
  return {ids, rows};
}

/// Removes the rows at the end in which all channels are missing.
void cut_missing_end(RealSeries& series, std::size_t channels) {
  const std::size_t rows = series.values.size() / channels;
  std::size_t end = 0;
  for (std::size_t i = 0; i < series.values.size(); ++i)
    if (!std::isnan(series.values[i])) end = std::max(end, i % rows + 1);
  std::vector<float> kept;
  for (std::size_t c = 0; c < channels; ++c)
    kept.insert(kept.end(), series.values.begin() + std::ptrdiff_t(c * rows),
                series.values.begin() + std::ptrdiff_t(c * rows + end));
  series.values = std::move(kept);
}

}  // namespace

NamedArray table_of_series(const RealSeriesSet& set, const RealSeriesColumns& columns) {
  const std::size_t C = set.channels, width = 2 + C;
  std::size_t n = 0;
  for (std::size_t i = 0; i < set.series.size(); ++i) n += set.rows(i);
  NamedArray table{xt::xarray<double>::from_shape({n, width}), {columns.series, columns.label}};
  const auto& names = columns.channels.size() == C ? columns.channels : set.names;
  for (std::size_t c = 0; c < C; ++c)
    table.columns.push_back(names.size() == C ? names[c]
                            : C == 1          ? "x"
                                              : "x" + std::to_string(c + 1));
  const bool are_numbers = set.numbers && are_numbers_or_empty(set);
  std::map<std::string, std::size_t> labels;
  std::vector<std::string> ids, texts;
  double* row = table.values.data();
  for (std::size_t i = 0; i < set.series.size(); ++i) {
    const RealSeries& series = set.series[i];
    ids.push_back(series.name.empty() ? std::to_string(i + 1) : series.name);
    double label = are_numbers ? parse_number(series.label).value_or(NAN) : NAN;
    if (!are_numbers && !series.label.empty()) {
      const auto [found, is_new] = labels.emplace(series.label, texts.size());
      if (is_new) texts.push_back(series.label);
      label = double(found->second);
    }
    for (std::size_t t = 0; t < set.rows(i); ++t, row += width) {
      row[0] = double(i);
      row[1] = label;
      for (std::size_t c = 0; c < C; ++c) row[2 + c] = double(series.values[c * set.rows(i) + t]);
    }
  }
  const bool are_named = std::ranges::any_of(
      set.series, [](const RealSeries& series) { return !series.name.empty(); });
  if (are_named) table.texts[0] = std::move(ids);
  for (std::size_t i = 0; i < n && !are_named; ++i) ++table.values(i, 0);
  if (!are_numbers) table.texts[1] = std::move(texts);
  return table;
}

RealSeriesSet series_of_table(const NamedArray& table, const RealSeriesColumns& columns,
                              bool labelled) {
  require_table(table);
  const std::size_t id = require_column(table, columns.series);
  const auto label = label_column(table, columns, labelled);
  const std::vector<std::size_t> channels = channels_of(table, columns);
  const auto [ids, rows] = rows_by_id(table, id);
  RealSeriesSet set{.channels = channels.size()};
  for (const std::size_t channel : channels)
    if (!table.columns.empty()) set.names.push_back(table.columns[channel]);
  const bool texts = label && table.texts.contains(*label);
  for (const double number : ids) {
    const std::vector<std::size_t>& chosen = rows.at(number);
    RealSeries series = series_of_some_rows(table, columns, channels, chosen);
    series.name = text_in(table, chosen[0], id);
    if (label) series.label = label_in(table, chosen[0], *label);
    if (label && !texts) {
      const double number = table.values(chosen[0], *label);
      set.numbers = set.numbers || number != std::floor(number);
    }
    for (const std::size_t row : chosen)
      if (label && label_in(table, row, *label) != series.label)
        throw DataError("row ", row + 1, ": the label differs within series ", series.name);
    set.series.push_back(std::move(series));
  }
  return set;
}

RealSeriesSet series_of_all_rows(const NamedArray& table, const RealSeriesColumns& columns) {
  require_table(table);
  const std::vector<std::size_t> channels = channels_of(table, columns);
  std::vector<std::size_t> rows(table.values.shape()[0]);
  std::iota(rows.begin(), rows.end(), std::size_t(0));
  return {.channels = channels.size(),
          .series = {series_of_some_rows(table, columns, channels, rows)}};
}

RealSeriesSet series_of_rows(const NamedArray& table, const RealSeriesColumns& columns,
                             bool labelled) {
  require_table(table);
  const auto id = column_called(table, columns.series);
  const auto label = label_column(table, columns, labelled);
  if (table.time && columns.channels.empty())
    throw DataError("column ", excerpt(column_name(table, *table.time)),
                    " holds times; name the columns of values in data.columns");
  const std::vector<std::size_t> values = channels_of(table, columns);
  RealSeriesSet set{.channels = 1};
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row) {
    RealSeries series;
    for (const std::size_t column : values)
      series.values.push_back(stored_value(table.values(row, column), row));
    cut_missing_end(series, 1);
    if (series.values.empty()) throw DataError("row ", row + 1, ": has no values");
    if (label) series.label = label_in(table, row, *label);
    if (id) series.name = text_in(table, row, *id);
    set.series.push_back(std::move(series));
  }
  return set;
}

RealSeriesSet series_of_arrays(const xt::xarray<double>& values, const xt::xarray<double>* labels) {
  const auto& shape = values.shape();
  if ((shape.size() != 2 && shape.size() != 3) || values.size() == 0)
    throw DataError("x has ", shape.size(), " axes and ", values.size(),
                    " numbers; give (series, rows) or (series, rows, channels)");
  const std::size_t n = shape[0], T = shape[1], C = shape.size() == 3 ? shape[2] : 1;
  if (labels && labels->size() != n)
    throw DataError("y has ", labels->size(), " labels for the ", n, " series of x");
  RealSeriesSet set{.channels = C};
  for (std::size_t i = 0; i < n; ++i) {
    RealSeries series;
    series.values.resize(T * C);
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t c = 0; c < C; ++c)
        series.values[c * T + t] = stored_value(values.data()[(i * T + t) * C + c], i);
    cut_missing_end(series, C);
    if (series.values.empty()) throw DataError("series ", i + 1, " of x has no values");
    if (const double label = labels ? labels->data()[i] : NAN; !std::isnan(label)) {
      series.label = format_number(label);
      set.numbers = set.numbers || label != std::floor(label);
    }
    set.series.push_back(std::move(series));
  }
  return set;
}

void name_series(NamedArray& answer, const RealSeriesSet& set) {
  std::vector<std::string> names;
  bool are_numbers = true;
  for (std::size_t i = 0; i < set.series.size(); ++i) {
    const std::string& name = set.series[i].name;
    names.push_back(name.empty() ? std::to_string(i + 1) : name);
    const std::optional<double> number = parse_number(names[i]);
    are_numbers = are_numbers && number && format_number(*number) == names[i];
    answer.values(i, 0) = double(i);
  }
  if (!are_numbers) {
    answer.texts[0] = std::move(names);
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) answer.values(i, 0) = *parse_number(names[i]);
}

}  // namespace bochner
