#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/csv_layout.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/train/config/parameters.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/tasks/config_templates/clocked_series.hpp>
#include <bochner/train/tasks/config_templates/column_roles.hpp>
#include <bochner/train/tasks/config_templates/event_columns.hpp>
#include <bochner/train/tasks/config_templates/table_roles.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/config_templates/text_columns.hpp>
#include <bochner/train/tasks/config_templates/time_parts.hpp>

namespace bochner {
namespace {

namespace fs = std::filesystem;

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

/// Returns the layout of series that share their times.
SeriesLayout series_layout(const fs::path& file, const InferredTable& table) {
  if (table.times.empty() || table.numbers.empty()) return {};
  if (!table.request.id.empty() && table.request.kind == "forecaster")
    return layout_by_id(file, table.names[table.times[0]], table.request.id, table.options);
  return with_targets(
      layout_of_series(file, table.names[table.times[0]], id_candidates(table), table.options),
      table);
}

/// Returns the layout of series of readings that do not share their times.
SeriesLayout readings_layout(const fs::path& file, const InferredTable& table) {
  if (table.times.empty() || table.numbers.empty()) return {};
  if (!table.request.id.empty())
    return layout_by_id(file, table.names[table.times[0]], table.request.id, table.options);
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
  if (table.options.layout == "wide")
    columns = "layout = \"wide\"               # a row is a series: its id, then values\n";
  if (!layout.columns.empty())
    columns += "series = " + quoted_list(layout.columns) + "            # identifies " +
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
  const std::size_t horizon =
                        table.request.horizon > 0
                            ? table.request.horizon
                            : std::clamp<std::size_t>(table.rows / layout.count / 20, 1, longest),
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

/// Throws std::invalid_argument or DataError if a request for series cannot be met.
void require_series(const InferredTable& table, const SeriesLayout& layout,
                    const std::string& file) {
  const TemplateRequest& request = table.request;
  require_used(request, "forecaster", file);
  demand(request.id.empty() || !layout.columns.empty(),
         "--id {}: series in {} need a column of times; name it with --time", request.id, file);
  const std::size_t rows = table.rows / layout.count;
  demand(request.horizon == 0 || request.horizon < rows,
         "--horizon {}: must be less than the {} rows of a series of {}", request.horizon, rows,
         file);
  const auto time = table.called(lower_case(request.time));
  if (time && std::ranges::count(table.times, *time) == 0 &&
      std::ranges::count(table.row_numbers, *time) == 0)
    throw DataError(file, ": --time ", request.time,
                    ": its numbers increase neither in the table nor within series of it");
}

std::string series_config(const std::string& files, const fs::path& file, InferredTable table,
                          const SeriesLayout& layout) {
  require_series(table, layout, file.string());
  const ColumnRoles roles = column_roles(file, table, layout);
  std::string columns = columns_of_series(table, layout, roles);
  const std::vector<double> times =
      table.times.empty()
          ? std::vector<double>()
          : times_of(file, table.names[table.times[0]], layout.columns, table.options);
  const bool irregular = (layout.columns.empty() || layout.own_times) && are_irregular(times);
  if (irregular) return forecaster_config(files, columns, table, layout, irregular);
  const std::string first = roles.targets.empty() ? "1" : table.names[roles.targets[0]];
  EnsembleSizes sizes = ensemble_sizes(times, values_of(file, first, layout.columns, table.options),
                                       table.rows / layout.count);
  sizes.horizon = table.request.horizon > 0 ? table.request.horizon
                                            : std::max(sizes.horizon, roles.rows_to_forecast);
  if (!times.empty()) columns += "pause = 0                     # missing rows are filled in\n";
  if (have_missing(file, names_of(table, roles.targets), table.options))
    columns += "missing = \"forward\"           # missing values are those before\n";
  return fill_in("ensemble", {{"files", files},
                              {"columns", columns},
                              {"seasons", joined(sizes.seasons)},
                              {"horizon", std::to_string(sizes.horizon)},
                              {"lookback", std::to_string(sizes.lookback)}});
}

std::string event_config(const std::string& files, const InferredTable& table,
                         const LogColumns& log) {
  constexpr std::size_t batch = 16, longest = 64, few_windows = 50;
  const std::size_t length = std::clamp<std::size_t>(table.rows / 20, 1, longest);
  const std::size_t windows = std::max(table.rows / length, log.sequences);
  std::vector<std::string> used = {table.names[log.time]};
  std::string columns = "time_column = " + in_quotes(used[0]) + "\n";
  if (!log.time_format.empty()) columns += "time_format = " + in_quotes(log.time_format) + "\n";
  if (log.type) used.push_back(table.names[*log.type]);
  columns += log.type ? "type_column = " + in_quotes(used.back()) + "\n"
                      : "type_column = \"\"              # no types, only times\n";
  if (log.sequence) {
    used.push_back(table.names[*log.sequence]);
    columns += "sequence_column = " + in_quotes(used.back()) + "\n";
  }
  columns += comment_on_unused(table, used);
  Blanks blanks = {{"files", files}, {"columns", columns}, {"length", std::to_string(length)}};
  if (windows < few_windows) blanks["lr"] = "1e-3", blanks["dropout"] = "0.3";
  return fill_in("events", with_steps(blanks, windows / batch));
}

std::string labelled_text_config(const std::string& files, const InferredTable& table,
                                 const TextColumns& found) {
  const std::string &text = table.names[found.text], &label = table.names[found.label];
  return fill_in("bag_of_words", {{"files", files},
                                  {"columns", "text_column = " + in_quotes(text) +
                                                  "\nlabel_column = " + in_quotes(label) + "\n" +
                                                  comment_on_unused(table, {text, label})}});
}

std::string regression_config(const std::string& files, const std::string& file,
                              const InferredTable& table) {
  constexpr std::size_t quick_rows = 1024, most_exact = 5000;
  std::vector<std::size_t> inputs = table.numbers;
  const std::size_t target = requested_number(table, file);
  std::erase(inputs, target);
  if (inputs.empty())
    throw DataError(file, ": has no columns of numbers to predict ", excerpt(table.names[target]),
                    " from");
  std::string columns = "inputs = " + quoted_list(names_of(table, inputs)) +
                        "\ntarget = " + in_quotes(table.names[target]) + "\n";
  columns += comment_on_unused(table, names_of(table, table.numbers)) + comment_on_marks(table);
  return fill_in("gp", {{"files", files},
                        {"columns", columns},
                        {"method", in_quotes(table.rows > most_exact ? "features" : "exact")},
                        {"rows", table.rows > 2 * quick_rows ? std::to_string(quick_rows) : "0"}});
}

/// Returns a config of a table of independent rows.
std::string rows_of_table_config(const std::string& files, const fs::path& file,
                                 InferredTable& table) {
  constexpr std::size_t most_fitted = 20000;
  const TableRoles roles = table_roles(file, table);
  const bool is_class = std::ranges::count(roles.categories, roles.target) > 0;
  require_used(table.request, is_class ? "classifier" : "regressor", file.string());
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

/// Throws DataError if numbers with units and decimals would be left out.
void require_plain_numbers(const InferredTable& table, const SeriesLayout& layout) {
  for (const std::size_t i : table.quantities)
    if (std::ranges::count(layout.columns, table.names[i]) == 0)
      throw DataError(table.almost_numbers.at(i));
}

/// Returns a config of a table with a series in each row.
std::string wide_config(const std::string& files, const fs::path& file, const Input& input,
                        const CsvOptions& options, const TemplateRequest& request) {
  InferredTable table = infer_table(long_csv(input.text(), input.name(), options), input.name(),
                                    long_csv_options(input.text(), input.name(), options));
  table.options = options;
  table.options.layout = "wide";
  apply_request(request, input.name(), table);
  const std::vector<std::string> id = {table.names[0]};
  ReadOptions reading{.csv = table.options};
  reading.csv.texts = reading.csv.labels = id;
  reading.csv.missing = "nan";
  const std::size_t count = rows_of_series(read_array(file, reading), id).size();
  return series_config(files, file, table, {id, count});
}

/// Returns a config of a Gaussian process, without columns that tell nothing.
std::string process_config(const std::string& files, const fs::path& file, InferredTable table) {
  require_used(table.request, "gp", file.string());
  leave_out_useless(file, table);
  return regression_config(files, file.string(), table);
}

/// Returns a config of a model of a log.
std::string log_config(const std::string& files, const std::string& file,
                       const InferredTable& table, const LogColumns& log) {
  if (!table.options.time_parts.empty())
    throw DataError(file, ": the times of events are in several columns, ",
                    excerpt(table.options.time), " and others; write them in one");
  require_used(table.request, "events", file);
  return event_config(files, table, log);
}

/// Returns a config of series, whose times may be numbers, of events without types, or of
/// independent rows.
std::string numbers_config(const std::string& files, const fs::path& file,
                           const InferredTable& inferred) {
  const auto clock = with_clock(file, inferred);
  if (!clock) {
    if (const auto series = series_with_clock(file, inferred))
      return series_config(files, file, series->table, series->layout);
    const auto log =
        inferred.request.kind.empty() ? untyped_log(file, inferred, true) : std::nullopt;
    if (log) return log_config(files, file.string(), inferred, *log);
  }
  InferredTable table = clock ? *clock : inferred;
  const bool has_classes =
      !clock && table.times.empty() && holds_classes(table, table.names.size() - 1);
  if (has_classes && table.request.kind.empty()) return rows_of_table_config(files, file, table);
  if (table.numbers.empty() && !table.almost_numbers.empty())
    throw DataError(table.almost_numbers.begin()->second);
  if (table.numbers.empty())
    throw DataError(file.string(),
                    ": has no column of numbers to learn; name its columns in a config of "
                    "bochner init events or bochner init forecaster");
  const TemplateRequest& request = table.request;
  const bool is_asked =
      request.kind == "forecaster" || !request.time.empty() || !request.id.empty();
  if (is_asked || clock || !table.times.empty() || !table.has_header || table.numbers.size() == 1)
    return series_config(files, file, table, readings_layout(file, table));
  return rows_of_table_config(files, file, table);
}

}  // namespace

std::string table_config(const std::string& files, const fs::path& file, const CsvOptions& options,
                         const TemplateRequest& request) {
  const Input input = open_input(file);
  if (request.allows("forecaster") &&
      (options.layout == "wide" || is_wide_csv(input.text(), input.name(), options)))
    return wide_config(files, file, input, options, request);
  InferredTable inferred = infer_table(input.text(), input.name(), options);
  apply_request(request, input.name(), inferred);
  if (const auto found = text_columns(inferred); found && request.allows("classifier")) {
    require_used(request, "classifier", input.name());
    return labelled_text_config(files, inferred, *found);
  }
  if (request.kind == "gp") return process_config(files, file, inferred);
  if (request.kind == "regressor" || request.kind == "classifier")
    return rows_of_table_config(files, file, inferred);
  if (!inferred.unread.empty() && request.time.empty()) throw DataError(inferred.unread);
  if (auto whole = with_time_parts(file, inferred); whole && request.time.empty())
    inferred = std::move(*whole);
  const SeriesLayout layout = series_layout(file, inferred);
  if (!layout.columns.empty() && request.allows("forecaster")) {
    require_plain_numbers(inferred, layout);
    return series_config(files, file, inferred, layout);
  }
  if (request.allows("events"))
    if (const auto log = typed_log(file, inferred))
      return log_config(files, input.name(), inferred, *log);
  const bool is_open = request.kind.empty() && request.time.empty() && request.id.empty();
  if (is_open && inferred.times.empty() && names_classes(inferred))
    return rows_of_table_config(files, file, inferred);
  require_plain_numbers(inferred, layout);
  if (request.allows("events"))
    if (const auto log = untyped_log(file, inferred, request.kind == "events"))
      return log_config(files, input.name(), inferred, *log);
  demand(request.kind != "events",
         "--as events: {} needs a column of times (--time NAME), and of types (--target NAME) or "
         "nothing else",
         input.name());
  return numbers_config(files, file, inferred);
}

std::string rows_config(const std::string& files, const fs::path& file, std::size_t rows,
                        const TemplateRequest& request) {
  InferredTable table;
  table.rows = rows;
  apply_request(request, file.string(), table);
  demand(request.allows("forecaster"), "--as {}: {} holds an array, whose rows can be forecast",
         request.kind, file.string());
  return series_config(files, file, table, {});
}

}  // namespace bochner
