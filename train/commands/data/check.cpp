#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/time_stamp.hpp>
#include <bochner/data/series/series_table.hpp>
#include <bochner/train/commands/common_options.hpp>
#include <bochner/train/commands/data/check.hpp>
#include <bochner/train/storage/output.hpp>
#include <bochner/train/tasks/config_templates/config_template.hpp>
#include <bochner/train/tasks/registered_parameters.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

namespace bochner {
namespace {

struct CheckOptions {
  std::string file;
  std::vector<std::string> sets;
  bool json = false;
};

/// A key that gives columns a role, and the word for it.
struct ColumnRole {
  const char *data, *key, *name;
};
constexpr ColumnRole column_roles_of[] = {{"series", "data.columns", "targets"},
                                          {"series", "data.series", "series"},
                                          {"series", "data.known", "covariates"},
                                          {"series", "data.static", "static"},
                                          {"table", "data.target", "targets"},
                                          {"table", "data.inputs", "inputs"},
                                          {"event_files", "data.type_column", "types"},
                                          {"event_files", "data.sequence_column", "sequences"},
                                          {"texts", "data.text_column", "texts"},
                                          {"texts", "data.label_column", "labels"}};

/// What a table was understood to hold.
struct Understood {
  Config config;
  std::string comments;  ///< of the config that was chosen
  std::string file;
  NamedArray table;
  std::vector<std::pair<std::string, std::vector<std::string>>> roles;  ///< column names
  std::vector<SeriesRows> series;
  std::size_t to_forecast = 0;

  bool is_series() const { return config.text("data.kind") == "series"; }
  bool is_labelled() const { return config.text("data.kind") == "labelled_series"; }
  /// Returns the name or number that the time has in the file: the table may lack other columns.
  std::string time_name() const {
    const std::string& named = config.text("data.time_column");
    return named.empty() ? column_name(table, *table.time) : named;
  }
  std::vector<std::string> in_role(const std::string& role) const {
    for (const auto& [name, columns] : roles)
      if (name == role) return columns;
    return {};
  }
  bool is_used(const std::string& column) const {
    return std::ranges::any_of(
        roles, [&](const auto& role) { return std::ranges::count(role.second, column) > 0; });
  }
};

std::vector<std::string> columns_of_key(const Config& config, const std::string& key) {
  const bool is_list = key == "data.columns" || key == "data.series" || key == "data.known" ||
                       key == "data.static" || key == "data.inputs";
  if (is_list) return config.text_list(key);
  return config.text(key).empty() ? std::vector<std::string>()
                                  : std::vector<std::string>{config.text(key)};
}

/// Reads the roles of the columns from the config; all without one are targets if none is named.
/// Those of labelled series are in order.
void find_roles(Understood& all) {
  const NamedArray& table = all.table;
  if (all.is_labelled())
    all.roles = {{"series", {table.columns[0]}},
                 {"labels", {table.columns[1]}},
                 {"channels", {table.columns.begin() + 2, table.columns.end()}}};
  for (const ColumnRole& role : column_roles_of)
    if (all.config.text("data.kind") == role.data)
      if (auto columns = columns_of_key(all.config, role.key); !columns.empty())
        all.roles.emplace_back(role.name, std::move(columns));
  if (!all.is_series() || !all.config.text_list("data.columns").empty()) return;
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < table.values.shape().back(); ++i)
    if (i != table.time && std::ranges::count(table.more_times, i) == 0 &&
        !all.is_used(column_name(table, i)))
      targets.push_back(column_name(table, i));
  all.roles.emplace(all.roles.begin(), "targets", targets);
}

void find_series(Understood& all) {
  SeriesColumns columns;
  if (all.is_series()) {
    columns = read_spec<SeriesColumns>(all.config, "data");
    columns.targets = all.in_role("targets");
  }
  if (all.is_labelled()) columns.series = all.in_role("series");
  all.series = rows_of_series(all.table, columns.series);
  for (const SeriesRows& part : all.series)
    if (all.is_series()) all.to_forecast += rows_to_forecast(all.table, columns, part.rows);
}

Understood understood(const CheckOptions& options) {
  Config asked(registered_parameters(), "the defaults");
  for (const std::string& set : options.sets) apply_set(asked, set);
  const bool is_table = is_data(options.file);
  std::string text;
  if (is_table) text = config_template_for(options.file, read_spec<CsvOptions>(asked, "data"));
  Understood all{
      .config = is_table
                    ? read_config_text(text, "the config chosen for " + options.file, options.sets)
                    : read_config(options.file, options.sets),
      .comments = text,
      .file = {},
      .table = {},
      .roles = {},
      .series = {}};
  const auto has_roles = [&](const ColumnRole& role) {
    return all.config.text("data.kind") == role.data;
  };
  if (std::ranges::none_of(column_roles_of, has_roles) && !all.is_labelled())
    throw DataError(options.file, ": is read as ", all.config.text("data.kind"),
                    " for a model of kind ", all.config.text("model.kind"),
                    ", not as a table; see: bochner init ", options.file);
  const auto names = table_names(all.config);
  ReadOptions reading = table_options(all.config);
  reading.csv.missing = "nan";
  all.file = is_table ? options.file : names.at(0).string();
  all.table = read_table(all.config, names[0], reading);
  if (all.config.text("data.kind") == "event_files" && !all.table.time) {
    all.table.time = require_column(all.table, all.config.text("data.time_column"));
    mark_numeric_time(all.table);
  }
  find_roles(all);
  find_series(all);
  return all;
}

ColumnSummary summary_of(const NamedArray& table, const std::string& name) {
  const std::size_t column = require_column(table, name);
  NamedArray one{xt::xarray<double>::from_shape({table.values.shape()[0], std::size_t(1)}), {name}};
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row)
    one.values(row, 0) = table.values(row, column);
  return summarize(one).columns.at(0);
}

/// Returns the times of a series and their step.
std::pair<std::vector<double>, std::string> times_in(const Understood& all,
                                                     const SeriesRows& part) {
  std::vector<double> times;
  for (const std::size_t row : part.rows) times.push_back(all.table.values(row, *all.table.time));
  if (!std::ranges::is_sorted(times)) return {times, "not in order"};
  const TimeStep step = all.table.numeric_time ? TimeStep::of_numbers(times)
                                               : TimeStep(times, clock_of(all.table, part.rows));
  return {times, step.is_regular() || step.counts_dates() ? "every " + step.words() : "irregular"};
}

/// Returns what the chosen config says after a mark, up to the end of the line.
std::string comment_after(const std::string& comments, const std::string& mark) {
  const std::size_t at = comments.find("\n" + mark);
  if (at == comments.npos) return "";
  const std::size_t begin = at + 1 + mark.size();
  return comments.substr(begin, comments.find('\n', begin) - begin);
}

void print_check(const Understood& all) {
  const auto line = [](const char* what, const std::string& words) {
    if (!words.empty()) fmt::print("{:<11} {}\n", what, words);
  };
  const NamedArray& table = all.table;
  fmt::print("{}   {} of {}\n", all.file, all.config.text("model.kind"),
             format_number_of(table.values.shape()[0], "row"));
  if (table.time) {
    const auto [times, step] = times_in(all, all.series[0]);
    line("time", in_words(all.time_name(), ": ", time_text(times.front(), table.numeric_time),
                          " to ", time_text(times.back(), table.numeric_time), ", ", step));
  } else if (all.is_series()) {
    line("time", "none: rows are at equal steps");
  }
  for (const auto& [role, columns] : all.roles) {
    const std::string names = some_of(columns);
    line(role.c_str(),
         role == "series" ? fmt::format("{} by {}", all.series.size(), names) : names);
  }
  std::vector<std::string> missing;
  for (const auto& [role, columns] : all.roles)
    for (const std::string& name : columns)
      if (const auto summary = summary_of(table, name); summary.missing > 0)
        missing.push_back(fmt::format("{} in {}", summary.missing, name));
  line("missing", some_of(missing));
  if (all.to_forecast > 0) line("to forecast", format_number_of(all.to_forecast, "row"));
  line("left out", comment_after(all.comments, "# left out: "));
}

Json json_of_columns(const Understood& all, const std::vector<std::string>& names) {
  Json columns = Json::array();
  for (const std::string& name : names) {
    const ColumnSummary summary = summary_of(all.table, name);
    columns.push({{"name", name},
                  {"min", summary.smallest},
                  {"max", summary.largest},
                  {"mean", summary.mean},
                  {"missing", summary.missing}});
  }
  return columns;
}

void print_check_json(const Understood& all) {
  const NamedArray& table = all.table;
  Json json = {{"file", all.file},
               {"kind", all.config.text("model.kind")},
               {"rows", table.values.shape()[0]},
               {"count", all.series.size()},
               {"to_forecast", all.to_forecast}};
  if (table.time) {
    const auto [times, step] = times_in(all, all.series[0]);
    json.set("time", {{"name", all.time_name()},
                      {"first", times.front()},
                      {"last", times.back()},
                      {"numeric", table.numeric_time},
                      {"step", step}});
  }
  for (const auto& [role, columns] : all.roles) json.set(role, json_of_columns(all, columns));
  print_line(json.set("left_out", comment_after(all.comments, "# left out: ")));
}

void data_check_command(const CheckOptions& options) {
  const Understood all = understood(options);
  options.json ? print_check_json(all) : print_check(all);
}

}  // namespace

void add_data_check(const Command& group) {
  const auto [command, options] =
      group.command("check", "print what a table is understood to hold: times, series, targets",
                    data_check_command);
  command.option("file", &options.file, "a table, or a config that reads one", "FILE").required();
  add_sets(command, options.sets);
  command.flag("--json", &options.json, "print JSON");
}

}  // namespace bochner
