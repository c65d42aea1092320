#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/series_files.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

/// Where a reader is, for errors.
struct Place {
  const std::string& file;
  std::size_t line = 0;

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw DataError(file, ": line ", line, ": ", parts...);
  }
};

/// Returns the text before the separator, and removes both.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

float value_in(std::string_view text, const Place& place) {
  if (text == "?" || lower_case(text) == "nan") return missing;
  const std::optional<double> number = parse_number(text);
  if (!number) place.fail(excerpt(text), " is not a number; missing values are ? or NaN");
  const float value = float(*number);
  if (!std::isfinite(value)) place.fail(excerpt(text), " is too large");
  return value;
}

void append_values(std::vector<float>& values, std::string_view text, char separator,
                   const Place& place) {
  while (!text.empty()) values.push_back(value_in(take_part(text, separator), place));
}

/// Adds a series whose channels have been read one after the other.
void add_series(RealSeriesSet& set, RealSeries series, std::size_t channels, const Place& place) {
  if (set.channels == 0) set.channels = channels;
  if (channels != set.channels)
    place.fail("has ", channels, " channels, the lines above ", set.channels);
  if (series.values.empty()) place.fail("has no values");
  set.series.push_back(std::move(series));
}

/// Reads channels of equally many values.
std::vector<float> channels_in(const std::vector<std::string_view>& parts, const Place& place) {
  std::vector<float> values;
  for (std::size_t channel = 0; channel < parts.size(); ++channel) {
    const std::size_t rows = values.size() / std::max<std::size_t>(1, channel);
    append_values(values, parts[channel], ',', place);
    if (channel > 0 && values.size() != (channel + 1) * rows)
      place.fail("has channels of different lengths");
  }
  return values;
}

/// What the header of a .ts file says.
struct TsHeader {
  bool labelled = false, numbers = false, data = false;

  void read(std::string_view line, const Place& place) {
    std::string_view rest = line;
    const std::string tag = lower_case(take_part(rest, ' ')), value = lower_case(rest);
    if (tag == "@data") data = true;
    if (tag == "@timestamps" && value.starts_with("true"))
      place.fail("series with time stamps are not read; write rows at equal steps");
    if (tag == "@classlabel" || tag == "@targetlabel") {
      labelled = value.starts_with("true");
      numbers = tag == "@targetlabel";
    }
  }
};

RealSeriesSet parse_ts(std::string_view text, const std::string& name) {
  RealSeriesSet set;
  TsHeader header;
  Place place{name};
  while (!text.empty()) {
    ++place.line;
    std::string_view line = trimmed(take_line(text));
    if (line.empty() || line.starts_with('#')) continue;
    if (!header.data) {
      header.read(line, place);
      continue;
    }
    std::vector<std::string_view> parts;
    while (!line.empty()) parts.push_back(take_part(line, ':'));
    RealSeries series;
    if (header.labelled) {
      series.label = parts.back();
      parts.pop_back();
    }
    if (parts.empty()) place.fail("has a label and no series");
    series.values = channels_in(parts, place);
    add_series(set, std::move(series), parts.size(), place);
  }
  set.numbers = header.numbers;
  return set;
}

/// Returns the parts of a quoted relation, which "\n" separates as two characters.
std::vector<std::string_view> relation_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find("\\n")) != text.npos; text.remove_prefix(end + 2))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

/// Returns a series of a line of .arff: values and a label, or a quoted relation of channels.
RealSeries arff_series(std::string_view line, std::size_t& channels, const Place& place) {
  RealSeries series;
  const char quote = line.front();
  if (quote != '\'' && quote != '"') {
    const std::size_t comma = line.rfind(',');
    if (comma == line.npos) place.fail("has one value");
    series.label = trimmed(line.substr(comma + 1));
    append_values(series.values, line.substr(0, comma), ',', place);
    channels = 1;
    return series;
  }
  const std::size_t end = line.find(quote, 1);
  if (end == line.npos || line.find(',', end) == line.npos)
    place.fail("has no label after its relation");
  const auto parts = relation_parts(line.substr(1, end - 1));
  series.values = channels_in(parts, place);
  channels = parts.size();
  series.label = trimmed(line.substr(line.find(',', end) + 1));
  return series;
}

/// Returns whether the last attribute of a header is a number.
bool is_number_attribute(std::string_view line) {
  const std::string words = lower_case(line);
  return words.ends_with("numeric") || words.ends_with("real");
}

RealSeriesSet parse_arff(std::string_view text, const std::string& name) {
  RealSeriesSet set;
  Place place{name};
  bool data = false;
  while (!text.empty()) {
    ++place.line;
    const std::string_view line = trimmed(take_line(text));
    if (line.empty() || line.starts_with('%')) continue;
    if (data) {
      std::size_t channels = 0;
      RealSeries series = arff_series(line, channels, place);
      add_series(set, std::move(series), channels, place);
      continue;
    }
    const std::string tag = lower_case(line.substr(0, line.find_first_of(" \t")));
    if (tag == "@attribute") set.numbers = is_number_attribute(line);
    data = tag == "@data";
  }
  return set;
}

/// Returns whether the attributes of an .arff header are the rows of a series: a relation, or names
/// that are numbered one after the other.
bool has_numbered_attributes(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty() && names.size() < 2) {
    std::string_view line = trimmed(take_line(text));
    if (lower_case(take_part(line, ' ')) != "@attribute") continue;
    const std::string name = lower_case(take_part(line, ' '));
    if (lower_case(line).starts_with("relational")) return true;
    names.push_back(name);
  }
  if (names.size() < 2) return false;
  const auto number_in = [](const std::string& name) {
    return parse_count(name.substr(name.find_last_not_of("0123456789") + 1));
  };
  const auto first = number_in(names[0]), second = number_in(names[1]);
  return first && second && *second == *first + 1;
}

}  // namespace

std::string series_format(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string line = lower_case(trimmed(take_line(rest)));
    if (line.empty() || line.starts_with('#') || line.starts_with('%')) continue;
    if (line.starts_with("@problemname")) return "ts";
    if (line.starts_with("@relation")) return has_numbered_attributes(rest) ? "arff" : "";
    return "";
  }
  return "";
}

RealSeriesSet parse_series(std::string_view text, const std::string& name) {
  RealSeriesSet set = series_format(text) == "ts" ? parse_ts(text, name) : parse_arff(text, name);
  if (set.series.empty()) throw DataError(name, ": has no series");
  return set;
}

NamedArray table_of_series(const RealSeriesSet& set) {
  const std::size_t C = set.channels, width = 2 + C;
  std::size_t n = 0;
  for (std::size_t i = 0; i < set.series.size(); ++i) n += set.rows(i);
  NamedArray table{xt::xarray<double>::from_shape({n, width}), {"series", "label"}};
  for (std::size_t c = 0; c < C; ++c)
    table.columns.push_back(C == 1 ? "x" : "x" + std::to_string(c + 1));
  std::vector<std::string> labels;
  double* row = table.values.data();
  for (std::size_t i = 0; i < set.series.size(); ++i) {
    const RealSeries& series = set.series[i];
    double label = set.numbers ? parse_number(series.label).value_or(NAN) : NAN;
    if (!set.numbers && !series.label.empty()) {
      const auto found = std::ranges::find(labels, series.label);
      label = double(found - labels.begin());
      if (found == labels.end()) labels.push_back(series.label);
    }
    for (std::size_t t = 0; t < set.rows(i); ++t, row += width) {
      row[0] = double(i + 1);
      row[1] = label;
      for (std::size_t c = 0; c < C; ++c) row[2 + c] = double(series.values[c * set.rows(i) + t]);
    }
  }
  if (!set.numbers) table.texts[1] = std::move(labels);
  return table;
}

namespace {

/// Returns the text of a cell: a text, or a number.
std::string text_in(const NamedArray& table, std::size_t row, std::size_t column) {
  const double value = table.values(row, column);
  if (std::isnan(value)) return "";
  const auto texts = table.texts.find(column);
  return texts == table.texts.end() ? format_number(value) : texts->second.at(std::size_t(value));
}

/// Returns the columns of numbers that are neither the id nor the label nor times.
std::vector<std::size_t> channels_of(const NamedArray& table, const RealSeriesColumns& columns) {
  std::vector<std::size_t> channels;
  for (const std::string& name : columns.channels) channels.push_back(require_column(table, name));
  if (!channels.empty()) return channels;
  const std::size_t width = table.values.shape()[1];
  const auto series = find_column(table.columns, width, columns.series),
             label = find_column(table.columns, width, columns.label);
  for (std::size_t c = 0; c < width; ++c)
    if (c != series && c != label && c != table.time && !table.texts.contains(c) &&
        !std::ranges::count(table.more_times, c))
      channels.push_back(c);
  if (channels.empty()) throw DataError("has no column of numbers beside series and label");
  return channels;
}

}  // namespace

RealSeriesSet series_of_table(const NamedArray& table, const RealSeriesColumns& columns,
                              bool labelled) {
  if (table.values.dimension() != 2)
    throw DataError("is an array of ", table.values.dimension(), " axes, not a table");
  const std::size_t n = table.values.shape()[0], id = require_column(table, columns.series);
  const auto label = labelled ? require_column(table, columns.label)
                              : find_column(table.columns, table.values.shape()[1], columns.label);
  const std::vector<std::size_t> channels = channels_of(table, columns);
  std::vector<double> ids;
  std::map<double, std::vector<std::size_t>> rows;
  for (std::size_t row = 0; row < n; ++row) {
    if (std::isnan(table.values(row, id)))
      throw DataError("row ", row + 1, ": has no series in column ", column_name(table, id));
    std::vector<std::size_t>& of_series = rows[table.values(row, id)];
    if (of_series.empty()) ids.push_back(table.values(row, id));
    of_series.push_back(row);
  }
  RealSeriesSet set{.channels = channels.size()};
  const bool texts = label && table.texts.contains(*label);
  for (const double number : ids) {
    const std::vector<std::size_t>& chosen = rows[number];
    RealSeries series;
    if (label) series.label = text_in(table, chosen[0], *label);
    if (label && !texts) {
      const double number = table.values(chosen[0], *label);
      set.numbers = set.numbers || number != std::floor(number);
    }
    for (const std::size_t row : chosen)
      if (label && text_in(table, row, *label) != series.label)
        throw DataError("row ", row + 1, ": the label differs within series ",
                        text_in(table, row, id));
    for (const std::size_t channel : channels)
      for (const std::size_t row : chosen)
        series.values.push_back(float(table.values(row, channel)));
    set.series.push_back(std::move(series));
  }
  return set;
}

}  // namespace bochner
