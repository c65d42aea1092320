#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/tasks/config_templates/column_roles.hpp>
#include <bochner/train/tasks/config_templates/table_roles.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/config_templates/time_parts.hpp>

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
    const std::string reason = table.reason(i);
    left.push_back(in_quotes(table.names[i]) + (reason.empty() ? "" : " (" + reason + ")"));
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
      layout_of_series(file, table.names[table.times[0]], id_candidates(table), table.options),
      table);
}

/// Returns the layout of series of readings that do not share their times.
SeriesLayout readings_layout(const fs::path& file, const InferredTable& table) {
  if (table.times.empty() || table.numbers.empty()) return {};
  const std::vector<std::string> numbers = names_of(table, table.numbers);
  return with_targets(layout_of_readings(file, table.names[table.times[0]], id_candidates(table),
                                         numbers, table.options),
                      table);
}

constexpr std::size_t irregular_batch = 8;

/// Chooses a model of rows at their times instead of at equal steps.
void see_times(Blanks& blanks) {
  blanks["backbone"] =
      "\"rows\"             # a token is a row at its time; the times are irregular\n"
      "blocks = 2\nwidth = 32\nexpansion = 2\npositions = \"none\"\n"
      "mixer = { kind = \"softmax\", heads = 2 }\n"
      "time = { kind = \"free\", use = \"rotate\", shortest = 1.5, longest = 192 }  # in median "
      "gaps";
  blanks["columns"] += "stamps = true                 # the model uses the time stamps\n";
  blanks["batch"] = std::to_string(irregular_batch);
}

/// Returns the keys that give columns their roles.
std::string columns_of_series(const InferredTable& table, const SeriesLayout& layout,
                              const ColumnRoles& roles) {
  std::vector<std::size_t> maybe = roles.maybe;
  for (const std::size_t i : table.words)
    if (std::ranges::count(layout.columns, table.names[i]) == 0) maybe.push_back(i);
  std::vector<std::string> used = layout.columns;
  for (const auto* some : {&roles.targets, &roles.known})
    for (const std::size_t i : *some) used.push_back(table.names[i]);
  if (!table.times.empty()) used.push_back(table.names[table.times[0]]);
  const std::string left_out = comment_on_unused(table, used), &clock = table.options.time;
  std::string columns;
  if (!layout.columns.empty())
    columns = "series = " + quoted_list(layout.columns) + "            # identifies " +
              std::to_string(layout.count) + " series\n";
  if (!left_out.empty() || !roles.known.empty() || !layout.columns.empty() || !clock.empty())
    columns +=
        "columns = " + quoted_list(names_of(table, roles.targets)) + "\n" +
        (table.times.empty() ? ""
                             : "time_column = " + in_quotes(table.names[table.times[0]]) + "\n");
  if (!clock.empty()) columns += "time_format = " + in_quotes(table.options.time_format) + "\n";
  if (!table.options.time_parts.empty())
    columns += "time_parts = " + quoted_list(table.options.time_parts) + "\n";
  if (!roles.known.empty())
    columns += "known = " + quoted_list(names_of(table, roles.known)) + "   # have values in the " +
               format_number_of(roles.rows_to_forecast, "row") + " to forecast\n";
  columns += left_out + comment_on_marks(table);
  if (!maybe.empty())
    columns +=
        "# known = " + quoted_list(names_of(table, maybe)) + "   # if also known for future rows\n";
  if (!roles.fixed.empty())
    columns += "# static = " + quoted_list(names_of(table, roles.fixed)) + "\n";
  return columns;
}

/// Returns a config of a forecaster: of irregular times, which it sees, or with known covariates.
std::string forecaster_config(const std::string& files, const std::string& columns,
                              const InferredTable& table, const SeriesLayout& layout,
                              bool irregular) {
  constexpr std::size_t longest = 24, most_batch = 64;
  const std::size_t horizon = std::clamp<std::size_t>(table.rows / layout.count / 20, 1, longest),
                    windows = table.rows * 7 / 10,
                    batch = irregular ? irregular_batch
                                      : std::clamp<std::size_t>(windows / 16, 1, most_batch);
  Blanks blanks = {{"files", files},
                   {"columns", columns},
                   {"horizon", std::to_string(horizon)},
                   {"lookback", std::to_string(4 * horizon)},
                   {"batch", std::to_string(batch)}};
  if (irregular) see_times(blanks);
  return fill_in("forecaster", with_steps(blanks, windows / batch));
}

std::string series_config(const std::string& files, const fs::path& file, InferredTable table,
                          const SeriesLayout& layout) {
  const ColumnRoles roles = column_roles(file, table, layout);
  std::string columns = columns_of_series(table, layout, roles);
  const std::vector<double> times =
      table.times.empty()
          ? std::vector<double>()
          : times_of(file, table.names[table.times[0]], layout.columns, table.options);
  const bool irregular = (layout.columns.empty() || layout.own_times) && are_irregular(times);
  if (irregular || !roles.known.empty())
    return forecaster_config(files, columns, table, layout, irregular);
  const std::string first = roles.targets.empty() ? "1" : table.names[roles.targets[0]];
  const EnsembleSizes sizes = ensemble_sizes(
      times, values_of(file, first, layout.columns, table.options), table.rows / layout.count);
  if (!times.empty()) columns += "pause = 0                     # missing rows are filled in\n";
  if (have_missing(file, names_of(table, roles.targets), table.options))
    columns += "missing = \"forward\"           # missing values are those before\n";
  return fill_in("ensemble", {{"files", files},
                              {"columns", columns},
                              {"seasons", fmt::format("{}", fmt::join(sizes.seasons, ", "))},
                              {"horizon", std::to_string(sizes.horizon)},
                              {"lookback", std::to_string(sizes.lookback)}});
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

/// Returns a config of a table of independent rows.
std::string rows_of_table_config(const std::string& files, const fs::path& file,
                                 InferredTable& table) {
  constexpr std::size_t most_fitted = 20000;
  const TableRoles roles = table_roles(file, table);
  std::vector<std::size_t> used = roles.inputs;
  used.push_back(roles.target);
  std::string columns = "inputs = " + quoted_list(names_of(table, roles.inputs)) +
                        "\ntarget = " + in_quotes(table.names[roles.target]) +
                        (roles.is_named ? "\n" : "   # the last column of numbers or classes\n");
  if (!roles.categories.empty())
    columns += "categories = " + quoted_list(names_of(table, roles.categories)) + "\n";
  columns += comment_on_unused(table, names_of(table, used)) + comment_on_marks(table);
  return fill_in("table", {{"files", files},
                           {"columns", columns},
                           {"rows", table.rows > most_fitted ? std::to_string(most_fitted) : "0"}});
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

/// Returns whether a word of a name is one of times: timestamp, unix_time, Year, time (s).
bool names_a_clock(std::string name) {
  constexpr std::string_view words[] = {"time", "timestamp", "date",     "datetime", "ds", "ts",
                                        "unix", "epoch",     "unixtime", "year",     "yr"};
  std::ranges::replace_if(
      name, [](char c) { return std::string_view("_ -.()[]").find(c) != std::string_view::npos; },
      ',');
  return std::ranges::any_of(split_list(lower_case(name)), [&](const std::string& word) {
    return std::ranges::find(words, word) != std::end(words);
  });
}

/// Returns the columns of numbers that may be times: those named like one, then compact dates.
std::vector<std::size_t> clocks_of(const InferredTable& table) {
  std::vector<std::size_t> clocks;
  for (const std::size_t i : table.numbers)
    if (names_a_clock(table.names[i])) clocks.push_back(i);
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
/// whole numbers: those named like a source, or any if the clock `is_named` like one.
SeriesLayout layout_by_clock(const fs::path& file, const InferredTable& table, bool is_named) try {
  std::vector<std::string> candidates = names_of(table, table.words);
  for (const std::size_t i : table.whole_numbers)
    if (is_named || names_a_source(table.names[i])) candidates.push_back(table.names[i]);
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
    const SeriesLayout layout =
        layout_by_clock(file, with_times(table, clocks[i], "%s"), i < named);
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
  InferredTable inferred = infer_table(input.text(), input.name(), options);
  if (const auto columns = text_columns(inferred))
    return text_config(files, *columns, inferred.rows);
  if (!inferred.unread.empty()) throw DataError(inferred.unread);
  if (auto whole = with_time_parts(file, inferred)) inferred = std::move(*whole);
  const SeriesLayout layout = series_layout(file, inferred);
  if (!layout.columns.empty()) {
    require_plain_numbers(inferred, layout);
    return series_config(files, file, inferred, layout);
  }
  if (const auto time = time_column(inferred))
    if (const auto type = type_column(inferred, *time)) {
      if (!inferred.options.time_parts.empty())
        throw DataError(input.name(), ": the times of events are in several columns, ",
                        excerpt(inferred.options.time), " and others; write them in one");
      return event_config(files, inferred, *time, *type);
    }
  if (inferred.times.empty() && names_classes(inferred))
    return rows_of_table_config(files, file, inferred);
  require_plain_numbers(inferred, layout);
  const auto clock = with_clock(file, inferred);
  if (!clock)
    if (const auto series = series_with_clock(file, inferred))
      return series_config(files, file, series->table, series->layout);
  InferredTable table = clock ? *clock : inferred;
  const bool has_classes =
      !clock && table.times.empty() && holds_classes(table, table.names.size() - 1);
  if (has_classes) return rows_of_table_config(files, file, table);
  if (table.numbers.empty() && !table.almost_numbers.empty())
    throw DataError(table.almost_numbers.begin()->second);
  if (table.numbers.empty())
    throw DataError(input.name(),
                    ": has no column of numbers to learn; name its columns in a config of "
                    "bochner init events or bochner init forecaster");
  if (clock || !table.times.empty() || !table.has_header || table.numbers.size() == 1)
    return series_config(files, file, table, readings_layout(file, table));
  return rows_of_table_config(files, file, table);
}

std::string rows_config(const std::string& files, const fs::path& file, std::size_t rows) {
  InferredTable table;
  table.rows = rows;
  return series_config(files, file, table, {});
}

}  // namespace bochner
