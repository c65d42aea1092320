#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_header.hpp>
#include <bochner/data/formats/read_series.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/tasks/config_templates/column_names.hpp>
#include <bochner/train/tasks/config_templates/labelled_series.hpp>
#include <cmath>
#include <map>
#include <set>

namespace bochner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t fewest_values = 16;

/// Names of labels, the most telling first.
constexpr std::string_view names_of_labels[] = {"class", "label", "target", "y"};

/// The first rows of a table, and what its columns hold there.
struct SampledTable {
  std::string file;
  CsvDialect dialect;
  std::vector<std::string> names;
  CsvSample rows;  ///< without the header
  bool has_header = false;

  std::size_t width() const { return names.size(); }
  std::optional<double> number(std::size_t row, std::size_t column) const {
    return parse_number(rows[row][column], dialect);
  }
  bool is_missing_at(std::size_t row, std::size_t column) const {
    return is_missing_number(rows[row][column]);
  }
  bool holds_numbers(std::size_t column) const {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!number(i, column) && !is_missing_at(i, column)) return false;
    return true;
  }
  std::set<std::string> texts(std::size_t column) const {
    std::set<std::string> found;
    for (const auto& row : rows) found.insert(row[column]);
    return found;
  }
  /// Returns whether each text occurs twice on average.
  bool repeats(std::size_t column) const { return 2 * texts(column).size() <= rows.size(); }
  bool holds_whole_numbers(std::size_t column) const {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const auto x = number(i, column); !x || *x != std::floor(*x)) return false;
    return !rows.empty();
  }
  std::optional<std::size_t> called(const std::string& wanted) const {
    for (std::size_t i = 0; i < width(); ++i)
      if (lower_case(names[i]) == lower_case(wanted)) return i;
    return std::nullopt;
  }
  std::optional<std::size_t> asked(const char* option, const std::string& wanted) const {
    if (wanted.empty()) return std::nullopt;
    return requested_column(names, file, option, wanted);
  }
};

/// Returns the first rows of a table of equally many fields, or nothing.
std::optional<SampledTable> sampled_table(const Input& input, CsvOptions& options,
                                          bool is_train) try {
  SampledTable table{input.name(), csv_dialect(input.text(), input.name(), options), {}, {}};
  table.rows = csv_sample(input.text(), input.name(), table.dialect.delimiter, table.dialect.quote);
  if (table.rows.empty()) return std::nullopt;
  const std::size_t width = table.rows[0].size();
  if (width < 2 ||
      std::ranges::any_of(table.rows, [&](const auto& row) { return row.size() != width; }))
    return std::nullopt;
  const bool only_numbers = std::ranges::all_of(table.rows[0], [&](const std::string& field) {
    return parse_number(field, table.dialect) || is_missing_number(field);
  });
  if (is_train && only_numbers && options.header == "auto") options.header = "no";
  table.has_header = has_csv_header(table.rows, input.name(), table.dialect, options);
  table.names = csv_column_names(table.has_header ? table.rows[0]
                                                  : std::vector<std::string>(table.rows[0].size()));
  if (table.has_header) table.rows.erase(table.rows.begin());
  if (table.rows.size() < 2) return std::nullopt;
  return table;
} catch (const DataError&) {
  return std::nullopt;  // reading it tells more
}

/// Returns the number at the end of a column name and the text before it.
std::optional<std::pair<std::string, std::size_t>> numbered(const std::string& name) {
  const std::size_t begin = name.find_last_not_of("0123456789") + 1;
  const auto number = parse_count(name.substr(begin));
  return number ? std::optional(std::pair(lower_case(name.substr(0, begin)), *number))
                : std::nullopt;
}

/// Returns the longest run of columns of numbers that are numbered one after the other, and are not
/// pixels.
std::vector<std::size_t> numbered_columns(const SampledTable& table) {
  std::vector<std::size_t> longest, run;
  for (std::size_t i = 0; i < table.width(); ++i) {
    const auto here = numbered(table.names[i]);
    if (!here || here->first.starts_with("pix") || !table.holds_numbers(i)) continue;
    const auto last = run.empty() ? here : numbered(table.names[run.back()]);
    if (!run.empty() && (here->first != last->first || here->second != last->second + 1))
      run.clear();
    run.push_back(i);
    if (run.size() > longest.size()) longest = run;
  }
  return longest;
}

/// Returns whether columns are named by their times: 0, t0, step_0.
bool names_times(const std::string& name) {
  const auto here = numbered(name);
  std::string prefix = here ? here->first : name;
  while (prefix.ends_with('_') || prefix.ends_with(' ')) prefix.pop_back();
  for (const char* known : {"", "t", "time", "step", "timestep", "row", "sample", "att"})
    if (prefix == known) return true;
  return false;
}

/// Returns whether values that follow each other in a row are closer than others: half the mean
/// squared difference is less than half the variance.
bool are_smooth(const SampledTable& table, const std::vector<std::size_t>& columns) {
  double steps = 0, variance = 0;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<double> x;
    for (const std::size_t column : columns)
      if (const auto value = table.number(row, column)) x.push_back(*value);
    double mean = 0;
    for (const double value : x) mean += value / double(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      variance += (x[i] - mean) * (x[i] - mean);
      if (i > 0) steps += (x[i] - x[i - 1]) * (x[i] - x[i - 1]) / 2;
    }
  }
  return steps < 0.5 * variance;
}

/// Returns the columns of a table with a series in each row that may hold its label: the one named
/// like a label, or all that hold texts that repeat.
std::vector<std::size_t> wide_labels(const SampledTable& table, const TemplateRequest& request,
                                     bool is_train) {
  if (const auto asked = table.asked("--target", request.target)) return {*asked};
  if (table.has_header)
    for (const std::string_view name : names_of_labels)
      if (const auto column = table.called(std::string(name))) return {*column};
  std::vector<std::size_t> texts, constants;
  for (std::size_t i = 0; i < table.width(); ++i)
    if (!table.holds_numbers(i) && table.repeats(i))
      (table.texts(i).size() > 1 ? texts : constants).push_back(i);
  if (texts.empty() && is_train && table.holds_whole_numbers(0) && table.repeats(0)) return {0};
  return texts.empty() ? constants : texts;
}

/// Returns the columns of values: numbered ones, or without names all but the labels.
std::vector<std::size_t> wide_values(const SampledTable& table,
                                     const std::vector<std::size_t>& labels, bool is_train) {
  if (table.has_header && !is_train) return numbered_columns(table);
  std::vector<std::size_t> values;
  for (std::size_t i = 0; i < table.width(); ++i)
    if (std::ranges::count(labels, i) == 0 && table.holds_numbers(i) &&
        !names_an_id(table.names[i]))
      values.push_back(i);
  return values;
}

std::string key_line(const std::string& key, const std::string& value, const char* comment) {
  std::string line = key + " = " + value;
  if (*comment != 0)
    line += std::string(line.size() < 30 ? 30 - line.size() : 1, ' ') + "# " + comment;
  return line + "\n";
}

std::string labels_line(const TemplateRequest& request, bool are_classes) {
  const bool is_open = request.kind.empty() || request.kind == "filter_bank";
  return (is_open ? are_classes : request.kind == "classifier")
             ? ""
             : key_line("labels", "\"numbers\"", "to predict, not classes");
}

std::optional<std::string> rows_of_series_config(const std::string& files, const fs::path& file,
                                                 const SampledTable& table,
                                                 const CsvOptions& options,
                                                 const TemplateRequest& request, bool is_train) {
  const std::vector<std::size_t> labels = wide_labels(table, request, is_train),
                                 values = wide_values(table, labels, is_train);
  const bool is_asked = request.kind == "filter_bank" && !request.target.empty();
  if (labels.empty() || (values.size() < fewest_values && !is_train && !is_asked))
    return std::nullopt;
  if (std::ranges::count(values, labels[0]) > 0) return std::nullopt;
  const bool is_series = is_train || is_asked ||
                         (table.has_header && names_times(table.names[values[0]])) ||
                         are_smooth(table, values);
  if (!is_series) return std::nullopt;
  std::optional<std::size_t> id = table.asked("--id", request.id);
  for (std::size_t i = 0; i < table.width(); ++i) {
    if (std::ranges::count(values, i) > 0 || std::ranges::count(labels, i) > 0 || i == id) continue;
    const bool is_id = names_an_id(table.names[i]) || lower_case(table.names[i]) == "series" ||
                       (i == 0 && table.has_header && numbered(table.names[0]));
    if (id || !is_id) return std::nullopt;  // a table of other columns too
    id = i;
  }
  if (labels.size() > 1)
    throw DataError(table.file,
                    ": has a series in each row; choose the column of its class with "
                    "--target: ",
                    joined(labels, ", ", [&](std::size_t i) { return excerpt(table.names[i]); }));
  std::string keys = key_line("layout", "\"wide\"", "a row is a series");
  if (options.header == "no" || !table.has_header) keys += key_line("header", "\"no\"", "");
  keys += key_line("label_column", in_quotes(table.names[labels[0]]), "");
  if (id) keys += key_line("sequence_column", in_quotes(table.names[*id]), "");
  keys +=
      labels_line(request, !table.holds_numbers(labels[0]) ||
                               (table.holds_whole_numbers(labels[0]) && table.repeats(labels[0])));
  return labelled_series_config(files, test_file_of(file), keys);
}

/// Columns of a long table of labelled series.
struct LongColumns {
  std::size_t id = 0, label = 0;
  std::optional<std::size_t> time = {};
  bool has_dates = false;
  std::vector<std::size_t> channels = {}, left_out = {};
};

/// Returns the columns by their names, or nothing if there is no id, no label or no channel.
std::optional<LongColumns> long_columns(const SampledTable& table, const TemplateRequest& request) {
  const auto first = [&](std::optional<std::size_t> found, auto names) {
    for (const char* name : names)
      if (!found) found = table.called(name);
    return found;
  };
  auto id = first(table.asked("--id", request.id), std::initializer_list<const char*>{"series"});
  for (std::size_t i = 0; i < table.width() && !id; ++i)
    if (names_an_id(table.names[i])) id = i;
  const auto label = first(table.asked("--target", request.target),
                           std::initializer_list<const char*>{"class", "label", "target"});
  if (!id || !label || id == label) return std::nullopt;
  LongColumns columns{*id, *label};
  columns.time = first(table.asked("--time", request.time),
                       std::initializer_list<const char*>{"time", "timestamp", "t", "date"});
  if (columns.time == id || columns.time == label) return std::nullopt;
  for (std::size_t i = 0; i < table.width(); ++i) {
    if (i == id || i == label || i == columns.time) continue;
    const std::string name = lower_case(table.names[i]);
    if (request.kind != "filter_bank" && std::ranges::count(type_names, name) > 0)
      return std::nullopt;  // a log
    const bool is_channel = table.holds_numbers(i) && !names_an_id(name);
    (is_channel ? columns.channels : columns.left_out).push_back(i);
  }
  if (columns.channels.empty()) return std::nullopt;
  columns.has_dates = columns.time && !table.holds_numbers(*columns.time);
  return columns;
}

RealSeriesColumns named(const SampledTable& table, const LongColumns& columns) {
  RealSeriesColumns named{table.names[columns.id], table.names[columns.label]};
  for (const std::size_t i : columns.channels) named.channels.push_back(table.names[i]);
  if (columns.time) named.time = table.names[*columns.time];
  return named;
}

/// Labels of series in a table.
enum class LabelKind { none, classes, numbers };

/// Returns what a table holds by these columns: classes, two or more and each of two series on
/// average, or numbers, of which some are not whole or which are asked for.
LabelKind labels_in(const Input& input, const CsvOptions& options, const RealSeriesColumns& columns,
                    const TemplateRequest& request) try {
  ReadOptions reading{.csv = options, .array = "", .series = SeriesOptions{.columns = columns}};
  reading.csv.texts = {columns.series, columns.label};
  reading.csv.labels = {columns.label};
  reading.csv.missing = "nan";
  reading.series->labelled = true;
  const RealSeriesSet set = parse_labelled_series(input.bytes(), input.name(), reading);
  std::set<std::string> labels;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < set.series.size(); ++i) {
    labels.insert(set.series[i].label);
    rows += set.rows(i);
  }
  if (labels.size() < 2 || labels.contains("") || rows < 4 * set.series.size())
    return LabelKind::none;
  bool are_numbers = true, are_whole = true;
  for (const std::string& label : labels) {
    const std::optional<double> number = parse_number(label);
    are_numbers = are_numbers && number;
    are_whole = are_whole && number && *number == std::floor(*number);
  }
  const bool is_asked = request.kind == "regressor" || !request.target.empty();
  if (are_numbers && request.kind == "regressor") return LabelKind::numbers;
  if (set.series.size() >= 2 * labels.size() && (!are_numbers || are_whole))
    return LabelKind::classes;
  return are_numbers && (!are_whole || is_asked) ? LabelKind::numbers : LabelKind::none;
} catch (const DataError&) {
  return LabelKind::none;
}

std::optional<std::string> times_of_series_config(const std::string& files, const fs::path& file,
                                                  const Input& input, const SampledTable& table,
                                                  const CsvOptions& options,
                                                  const TemplateRequest& request) {
  if (!table.has_header) return std::nullopt;
  const auto columns = long_columns(table, request);
  if (!columns) return std::nullopt;
  const RealSeriesColumns names = named(table, *columns);
  const LabelKind kind = labels_in(input, options, names, request);
  if (kind == LabelKind::none) return std::nullopt;
  std::string keys = key_line("sequence_column", in_quotes(names.series), "identifies a series");
  keys += key_line("label_column", in_quotes(names.label), "");
  if (columns->time && !columns->has_dates)
    keys += key_line("time_column", in_quotes(names.time), "");
  if (!columns->left_out.empty()) {
    std::vector<std::string> channels, others;
    for (const std::size_t i : columns->channels) channels.push_back(in_quotes(table.names[i]));
    for (const std::size_t i : columns->left_out) others.push_back(in_quotes(table.names[i]));
    keys += key_line("columns", "[" + joined(channels) + "]", "channels");
    keys += "# left out: " + some_of(others) + "\n";
  }
  keys += labels_line(request, kind == LabelKind::classes);
  return labelled_series_config(files, test_file_of(file), keys);
}

/// Returns whether a file is named like series to train on: NAME_TRAIN.
bool names_training(const fs::path& file) {
  const std::string name = file.filename().string(), stem = name.substr(0, name.find('.'));
  return lower_case(stem).ends_with("_train");
}

}  // namespace

std::optional<std::string> labelled_table_config(const std::string& files, const fs::path& file,
                                                 const Input& input, const CsvOptions& given,
                                                 const TemplateRequest& request) {
  const bool is_asked = request.kind == "filter_bank";
  if (!is_asked && !request.allows("classifier") && !request.allows("regressor"))
    return std::nullopt;
  if (request.horizon > 0 || given.layout == "wide") return std::nullopt;
  CsvOptions options = given;
  const bool is_train = names_training(file);
  const auto table = sampled_table(input, options, is_train);
  auto config =
      table ? times_of_series_config(files, file, input, *table, options, request) : std::nullopt;
  if (table && !config)
    config = rows_of_series_config(files, file, *table, options, request, is_train);
  demand(config.has_value() || !is_asked,
         "--as filter_bank: {} holds no labelled series that are recognised; name the columns with "
         "--target, --id and --time, or write a config: bochner init filter_bank",
         input.name());
  if (config) require_used(request, "filter_bank", input.name());
  return config;
}

}  // namespace bochner
