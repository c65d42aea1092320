#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/tasks/config_templates/series_inference.hpp>
#include <bochner/train/tasks/config_templates/table_inference.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>

namespace bochner {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of(const InferredTable& table,
                                  const std::vector<std::size_t>& columns) {
  std::vector<std::string> names;
  for (const std::size_t i : columns) names.push_back(table.names[i]);
  return names;
}

/// Returns a comment that lists unused columns, and why they are unused.
std::string comment_on_unused(const InferredTable& table, const std::vector<std::string>& used) {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    if (std::ranges::count(used, table.names[i]) > 0) continue;
    const auto is_in = [&](const auto& columns) { return std::ranges::count(columns, i) > 0; };
    left.push_back(in_quotes(table.names[i]) + (is_in(table.empty)         ? " (empty at the start)"
                                                : is_in(table.row_numbers) ? " (row numbers)"
                                                : is_in(table.times)       ? " (dates)"
                                                : is_in(table.words)       ? " (texts)"
                                                                           : ""));
  }
  return left.empty() ? "" : "# left out: " + some_of(left) + "\n";
}

/// Returns a comment that lists the marks of missing values in the columns of numbers.
std::string comment_on_marks(const InferredTable& table) {
  std::vector<std::string> marks;
  for (const std::size_t i : table.numbers)
    if (const auto found = table.marks.find(i); found != table.marks.end())
      marks.push_back(found->second);
  return marks.empty() ? "" : "# missing values: " + some_of(marks) + "\n";
}

/// Returns possible id columns of series: texts, and whole numbers.
std::vector<std::string> candidates_of(const InferredTable& table) {
  std::vector<std::string> candidates;
  for (const auto* columns : {&table.words, &table.whole_numbers})
    for (const std::size_t i : *columns) candidates.push_back(table.names[i]);
  return candidates;
}

/// Returns the layout if it leaves other columns to forecast, else an empty one.
SeriesLayout with_targets(const SeriesLayout& layout, const InferredTable& table) {
  const bool leaves_some = std::ranges::any_of(table.numbers, [&](std::size_t i) {
    return std::ranges::count(layout.columns, table.names[i]) == 0;
  });
  return leaves_some ? layout : SeriesLayout();
}

/// Returns the layout of series that share their times.
SeriesLayout series_layout(const fs::path& file, const InferredTable& table) {
  if (table.times.empty() || table.numbers.empty()) return {};
  return with_targets(
      layout_of_series(file, table.names[table.times[0]], candidates_of(table), table.options),
      table);
}

/// Returns the layout of series of readings that do not share their times.
SeriesLayout readings_layout(const fs::path& file, const InferredTable& table) {
  if (table.times.empty() || table.numbers.empty()) return {};
  const std::vector<std::string> numbers = names_of(table, table.numbers);
  return with_targets(layout_of_readings(file, table.names[table.times[0]], candidates_of(table),
                                         numbers, table.options),
                      table);
}

/// Chooses a model of rows at their times instead of at equal steps.
void see_times(Blanks& blanks) {
  blanks["backbone"] =
      "\"rows\"             # a token is a row at its time; the times are irregular\n"
      "blocks = 2\nwidth = 32\nexpansion = 2\npositions = \"none\"\n"
      "mixer = { kind = \"softmax\", heads = 2 }\n"
      "time = { kind = \"free\", use = \"rotate\", shortest = 1.5, longest = 192 }  # in median "
      "gaps";
  blanks["columns"] += "stamps = true                 # the model uses the time stamps\n";
  blanks["batch"] = "8";
}

/// Returns the keys that give columns their roles.
std::string columns_of_series(const InferredTable& table, const SeriesLayout& layout) {
  std::vector<std::size_t> targets = table.numbers, words = table.words;
  for (auto* some : {&targets, &words})
    std::erase_if(*some, [&](std::size_t i) {
      return std::ranges::count(layout.columns, table.names[i]) > 0;
    });
  std::vector<std::string> used = layout.columns;
  for (const std::size_t i : targets) used.push_back(table.names[i]);
  if (!table.times.empty()) used.push_back(table.names[table.times[0]]);
  const std::string left_out = comment_on_unused(table, used), &clock = table.options.time;
  std::string columns;
  if (!layout.columns.empty())
    columns = "series = " + quoted_list(layout.columns) + "            # identifies " +
              std::to_string(layout.count) + " series\n";
  if (!left_out.empty() || !layout.columns.empty() || !clock.empty())
    columns +=
        "columns = " + quoted_list(names_of(table, targets)) + "\n" +
        (table.times.empty() ? ""
                             : "time_column = " + in_quotes(table.names[table.times[0]]) + "\n");
  if (!clock.empty()) columns += "time_format = " + in_quotes(table.options.time_format) + "\n";
  columns += left_out + comment_on_marks(table);
  if (!words.empty())
    columns +=
        "# known = " + quoted_list(names_of(table, words)) + "   # if also known for future rows\n";
  return columns;
}

std::string series_config(const std::string& files, const fs::path& file,
                          const InferredTable& table, const SeriesLayout& layout) {
  constexpr std::size_t longest = 24;
  const std::size_t rows = table.rows / layout.count;
  const std::size_t horizon = std::clamp<std::size_t>(rows / 20, 1, longest);
  const std::size_t lookback = 4 * horizon, windows = table.rows * 7 / 10;
  const std::size_t batch = std::clamp<std::size_t>(windows / 16, 1, 64);
  const std::vector<double> times =
      table.times.empty()
          ? std::vector<double>()
          : times_of(file, table.names[table.times[0]], layout.columns, table.options);
  Blanks blanks = {{"files", files},
                   {"columns", columns_of_series(table, layout)},
                   {"horizon", std::to_string(horizon)},
                   {"lookback", std::to_string(lookback)},
                   {"batch", std::to_string(batch)}};
  if ((layout.columns.empty() || layout.own_times) && are_irregular(times))
    see_times(blanks);
  else if (const std::size_t pause = pause_for(times, lookback, horizon, {.7, .1, .2}); pause != 1)
    blanks["columns"] +=
        fmt::format("pause = {:<22}# most steps to the next row: the dates have gaps\n", pause);
  return fill_in("forecaster", with_steps(blanks, windows / batch));
}

std::string event_config(const std::string& files, const InferredTable& table, std::size_t time,
                         std::size_t type) {
  constexpr std::size_t batch = 16, longest = 64;
  const std::size_t length = std::clamp<std::size_t>(table.rows / 20, 1, longest);
  std::string columns = "time_column = " + in_quotes(table.names[time]) +
                        "\ntype_column = " + in_quotes(table.names[type]) + "\n";
  std::vector<std::string> used = {table.names[time], table.names[type]};
  if (const auto sequence = sequence_column(table, time, type)) {
    columns += "sequence_column = " + in_quotes(table.names[*sequence]) + "\n";
    used.push_back(table.names[*sequence]);
  }
  columns += comment_on_unused(table, used);
  return fill_in(
      "events",
      with_steps({{"files", files}, {"columns", columns}, {"length", std::to_string(length)}},
                 4 * table.rows / (batch * length)));
}

std::string regression_config(const std::string& files, const InferredTable& table) {
  constexpr std::size_t quick_rows = 1024, most_exact = 5000;
  std::vector<std::size_t> inputs = table.numbers;
  const std::size_t target = inputs.back();
  inputs.pop_back();
  std::string columns = "inputs = " + quoted_list(names_of(table, inputs)) +
                        "\ntarget = " + in_quotes(table.names[target]) + "\n";
  columns += comment_on_unused(table, names_of(table, table.numbers)) + comment_on_marks(table);
  return fill_in("gp", {{"files", files},
                        {"columns", columns},
                        {"method", in_quotes(table.rows > most_exact ? "features" : "exact")},
                        {"rows", table.rows > 2 * quick_rows ? std::to_string(quick_rows) : "0"}});
}

/// Returns the keys of a label column and a text column, if there are such.
std::optional<std::string> text_columns(const InferredTable& table) {
  for (const char* label : {"label", "class", "category", "sentiment", "topic"})
    for (const char* text : {"text", "review", "message", "sentence", "comment"}) {
      const auto of_label = table.called(label), of_text = table.called(text);
      if (!of_label || !of_text || table.codes.contains(*of_label)) continue;
      return "text_column = " + in_quotes(table.names[*of_text]) +
             "\nlabel_column = " + in_quotes(table.names[*of_label]) + "\n" +
             comment_on_unused(table, {table.names[*of_text], table.names[*of_label]});
    }
  return std::nullopt;
}

/// Returns the columns of numbers that may be times: those named like one, then compact dates.
std::vector<std::size_t> clocks_of(const InferredTable& table) {
  std::vector<std::size_t> clocks;
  for (const char* name : {"time", "timestamp", "date", "datetime", "ds"})
    if (const auto column = table.called(name);
        column && std::ranges::count(table.numbers, *column) > 0)
      clocks.push_back(*column);
  clocks.insert(clocks.end(), table.compact_dates.begin(), table.compact_dates.end());
  return clocks;
}

/// Returns the table with a column of numbers as its times.
InferredTable with_times(const InferredTable& table, std::size_t column,
                         const std::string& format) {
  InferredTable series = table;
  std::erase(series.numbers, column);
  std::erase(series.whole_numbers, column);
  series.times.push_back(column);
  series.options.time = table.names[column];
  series.options.time_format = format;
  return series;
}

/// Returns the table with a clock of increasing numbers as its times, or as row numbers if they are
/// a counter.
std::optional<InferredTable> with_clock(const fs::path& file, const InferredTable& table) {
  if (!table.times.empty() || !table.has_header) return std::nullopt;
  for (const std::size_t column : clocks_of(table)) {
    const auto format = format_of_clock(file, table.names[column], table.options);
    if (!format) continue;
    InferredTable series = with_times(table, column, *format);
    if (!format->empty()) return series;
    series.times = {}, series.options = table.options;
    series.row_numbers.push_back(column);
    return series;
  }
  return std::nullopt;
}

/// Throws DataError if numbers with units and decimals would be left out.
void require_plain_numbers(const InferredTable& table, const SeriesLayout& layout) {
  for (const std::size_t i : table.quantities)
    if (std::ranges::count(layout.columns, table.names[i]) == 0)
      throw DataError(table.almost_numbers.at(i));
}

/// A table whose times are numbers, and its series.
struct ClockedSeries {
  InferredTable table;
  SeriesLayout layout;
};

/// Returns the layout of series within which a column of numbers increases. Their ids are texts, or
/// whole numbers named like a source.
SeriesLayout layout_by_clock(const fs::path& file, const InferredTable& table) try {
  std::vector<std::string> candidates = names_of(table, table.words);
  for (const std::size_t i : table.whole_numbers)
    if (names_a_source(table.names[i])) candidates.push_back(table.names[i]);
  if (candidates.empty()) return {};
  const std::string& time = table.options.time;
  SeriesLayout layout = layout_of_series(file, time, candidates, table.options);
  if (layout.columns.empty())
    layout =
        layout_of_readings(file, time, candidates, names_of(table, table.numbers), table.options);
  return with_targets(layout, table);
} catch (const DataError&) {
  return {};  // missing numbers, and those such as 1e3, are not times
}

/// Returns the table with the column of numbers as its times that increases within each of several
/// series.
std::optional<ClockedSeries> series_with_clock(const fs::path& file, const InferredTable& table) {
  if (!table.times.empty() || !table.has_header) return std::nullopt;
  std::vector<std::size_t> clocks = clocks_of(table);
  for (const char* name :
       {"t", "hour", "day", "week", "month", "quarter", "year", "period", "step"})
    if (const auto column = table.called(name);
        column && std::ranges::count(table.whole_numbers, *column) > 0)
      clocks.push_back(*column);
  const std::size_t named = clocks.size();
  for (const std::size_t i : table.rising)
    if (!names_a_source(table.names[i])) clocks.push_back(i);
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    const SeriesLayout layout = layout_by_clock(file, with_times(table, clocks[i], "%s"));
    if (layout.columns.empty()) continue;
    const auto format =
        format_of_clocks(file, table.names[clocks[i]], layout.columns, i < named, table.options);
    if (format) return ClockedSeries{with_times(table, clocks[i], *format), layout};
  }
  return std::nullopt;
}

}  // namespace

std::string table_config(const std::string& files, const fs::path& file,
                         const CsvOptions& options) {
  const Input input = open_input(file);
  const InferredTable inferred = infer_table(input.text(), input.name(), options);
  if (const auto columns = text_columns(inferred))
    return text_config(files, *columns, inferred.rows);
  if (!inferred.unread.empty()) throw DataError(inferred.unread);
  const SeriesLayout layout = series_layout(file, inferred);
  if (!layout.columns.empty()) {
    require_plain_numbers(inferred, layout);
    return series_config(files, file, inferred, layout);
  }
  if (const auto time = time_column(inferred))
    if (const auto type = type_column(inferred, *time))
      return event_config(files, inferred, *time, *type);
  require_plain_numbers(inferred, layout);
  const auto clock = with_clock(file, inferred);
  if (!clock)
    if (const auto series = series_with_clock(file, inferred))
      return series_config(files, file, series->table, series->layout);
  const InferredTable& table = clock ? *clock : inferred;
  if (table.numbers.empty() && !table.almost_numbers.empty())
    throw DataError(table.almost_numbers.begin()->second);
  if (table.numbers.empty())
    throw DataError(input.name(),
                    ": has no column of numbers to learn; name its columns in a config of "
                    "bochner init events or bochner init forecaster");
  if (clock || !table.times.empty() || !table.has_header || table.numbers.size() == 1)
    return series_config(files, file, table, readings_layout(file, table));
  return regression_config(files, table);
}

std::string rows_config(const std::string& files, const fs::path& file, std::size_t rows) {
  InferredTable table;
  table.rows = rows;
  return series_config(files, file, table, {});
}

}  // namespace bochner
