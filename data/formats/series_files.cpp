#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/series_files.hpp>
#include <bochner/data/formats/time_stamp.hpp>
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
  bool labelled = false, numbers = false, stamps = false, data = false;

  void read(std::string_view line) {
    std::string_view rest = line;
    const std::string tag = lower_case(take_part(rest, ' ')), value = lower_case(rest);
    if (tag == "@data") data = true;
    if (tag == "@timestamps") stamps = value.starts_with("true");
    if (tag == "@classlabel" || tag == "@targetlabel") {
      labelled = value.starts_with("true");
      numbers = tag == "@targetlabel";
    }
  }
};

/// A channel of pairs "(time,value)".
using Stamped = std::vector<std::pair<double, float>>;

/// Removes a pair and the comma after it from the text. A time is a number or a date.
std::pair<double, float> take_pair(std::string_view& text, const Place& place) {
  const std::size_t end = text.find(')'), comma = text.substr(0, end).rfind(',');
  if (!text.starts_with('(') || end == text.npos || comma == text.npos)
    place.fail(excerpt(text.substr(0, end)), " is not a pair of a time and a value: (0,1.5)");
  const std::string_view stamp = trimmed(text.substr(1, comma - 1)),
                         value = trimmed(text.substr(comma + 1, end - comma - 1));
  const auto number = parse_number(stamp);
  const auto time = number ? number : parse_time(stamp);
  if (!time) place.fail(excerpt(stamp), " is neither a number nor a date");
  text = trimmed(text.substr(end + 1));
  if (text.starts_with(',')) text = trimmed(text.substr(1));
  return {*time, value_in(value, place)};
}

/// Removes the channels of pairs from the text, up to the label.
std::vector<Stamped> take_channels(std::string_view& text, const Place& place) {
  std::vector<Stamped> channels;
  while (text.starts_with('(')) {
    channels.emplace_back();
    while (text.starts_with('(')) channels.back().push_back(take_pair(text, place));
    if (text.starts_with(':')) text = trimmed(text.substr(1));
  }
  return channels;
}

/// Returns a series with a row for each time of any channel, and missing values where a channel has
/// none.
RealSeries series_at_times(const std::vector<Stamped>& channels, const Place& place) {
  constexpr std::size_t sparsest = 64;
  RealSeries series;
  std::size_t pairs = 0;
  for (const Stamped& channel : channels) {
    for (const auto& [time, value] : channel) series.times.push_back(time);
    pairs += channel.size();
  }
  std::ranges::sort(series.times);
  series.times.erase(std::ranges::unique(series.times).begin(), series.times.end());
  const std::size_t rows = series.times.size();
  if (rows * channels.size() > sparsest * pairs)
    place.fail("has channels of ", rows, " different times that share few of them");
  series.values.assign(rows * channels.size(), missing);
  for (std::size_t c = 0; c < channels.size(); ++c)
    for (std::size_t i = 0; i < channels[c].size(); ++i) {
      const auto& [time, value] = channels[c][i];
      if (i > 0 && !(channels[c][i - 1].first < time)) place.fail("has times that do not ascend");
      const auto row = std::ranges::lower_bound(series.times, time) - series.times.begin();
      series.values[c * rows + std::size_t(row)] = value;
    }
  return series;
}

/// Adds the series of a line of .ts: channels between colons, then a label.
void add_ts_line(RealSeriesSet& set, std::string_view line, const TsHeader& header,
                 const Place& place) {
  if (header.stamps) {
    const std::vector<Stamped> channels = take_channels(line, place);
    RealSeries series = series_at_times(channels, place);
    if (!header.labelled && !line.empty()) place.fail(excerpt(line), " is not a pair");
    series.label = line;
    return add_series(set, std::move(series), channels.size(), place);
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

RealSeriesSet parse_ts(std::string_view text, const std::string& name) {
  RealSeriesSet set;
  TsHeader header;
  Place place{name};
  while (!text.empty()) {
    ++place.line;
    const std::string_view line = trimmed(take_line(text));
    if (line.empty() || line.starts_with('#')) continue;
    header.data ? add_ts_line(set, line, header, place) : header.read(line);
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

void append_series(RealSeriesSet& all, RealSeriesSet more) {
  if (all.series.empty())
    all.channels = more.channels, all.rate = more.rate, all.names = more.names;
  if (more.channels != all.channels)
    throw DataError("has ", more.channels, " channels, the files before ", all.channels);
  if (more.rate != all.rate)
    throw DataError("has ", more.rate, " samples a second, the files before ", all.rate,
                    "; resample it");
  all.numbers = all.numbers || more.numbers;
  std::ranges::move(more.series, std::back_inserter(all.series));
}

bool has_irregular_times(const RealSeries& series) {
  constexpr double tolerance = 0.01;
  if (series.times.size() < 3) return false;
  const double step =
      (series.times.back() - series.times.front()) / double(series.times.size() - 1);
  for (std::size_t i = 1; i < series.times.size(); ++i)
    if (!(std::abs(series.times[i] - series.times[i - 1] - step) <= tolerance * step)) return true;
  return false;
}

RealSeriesSet parse_series(std::string_view text, const std::string& name) {
  RealSeriesSet set = series_format(text) == "ts" ? parse_ts(text, name) : parse_arff(text, name);
  if (set.series.empty()) throw DataError(name, ": has no series");
  return set;
}

}  // namespace bochner
