#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/files/glob.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/tasks/series/forecast_requests.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/stack_checks.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/vocabularies.hpp>
#include <cmath>
#include <filesystem>
#include <functional>

namespace bochner {
namespace {

/// No column is two things at once.
void check_columns_of_series(const Config& config) {
  std::vector<std::string> seen;
  for (const char* key : {"data.columns", "data.series", "data.known", "data.static"})
    for (const std::string& name : config.text_list(key)) {
      if (std::ranges::count(seen, name) > 0 || name == config.text("data.time_column"))
        fail(config, key, fmt::format("names {} a second time", excerpt(name)));
      seen.push_back(name);
    }
}

void check_quantiles(const Config& config) {
  if (config.text("model.loss") != "quantile") return;
  const std::vector<double>& levels = config.number_list("model.quantiles");
  const bool inside =
      !levels.empty() && std::ranges::min(levels) > 0 && std::ranges::max(levels) < 1;
  if (!inside || std::ranges::adjacent_find(levels, std::greater_equal()) != levels.end())
    fail(config, "model.quantiles", "must ascend between 0 and 1");
  if (config.flag("model.instance_norm.affine"))
    fail(config, "model.instance_norm.affine",
         "must be false with model.loss = \"quantile\": a negative gain turns quantiles around",
         "model.loss");
}

/// Rows at the end of which something is known and that have no targets are there to be predicted.
std::vector<TimeSeries> series_of(NamedArray& table, const SeriesColumns& columns, bool carries) {
  std::vector<TimeSeries> all;
  for (SeriesRows& part : rows_of_series(table, columns.series)) {
    if (!columns.known.empty())
      part.rows.resize(part.rows.size() - rows_to_forecast(table, columns, part.rows));
    if (part.rows.empty()) continue;
    if (carries) carry_forward(table, columns, part.rows);
    all.push_back(time_series(table, columns, part));
  }
  if (all.empty()) throw DataError("there is no row with a value to forecast");
  return all;
}

/// Those that are known in their order, others behind them.
void put_first(const std::vector<std::string>& known, std::vector<TimeSeries>& series) {
  const auto place = [&](const TimeSeries& one) {
    for (std::size_t i = 0; i + one.id.size() <= known.size() && !one.id.empty();
         i += one.id.size())
      if (std::equal(one.id.begin(), one.id.end(), known.begin() + std::ptrdiff_t(i))) return i;
    return known.size();
  };
  std::ranges::stable_sort(series, {}, place);
}

}  // namespace

SeriesColumns series_columns(const Config& config) {
  auto columns = read_spec<SeriesColumns>(config, "data");
  columns.targets = config.text_list("data.columns");
  return columns;
}

ReadOptions series_options(const Config& config) {
  auto csv = read_spec<CsvOptions>(config, "data");
  const SeriesColumns columns = series_columns(config);
  if (!csv.columns.empty()) {
    const std::vector<std::string> others = columns.others();
    csv.columns.insert(csv.columns.end(), others.begin(), others.end());
    if (!csv.time.empty()) csv.columns.push_back(csv.time);
  }
  csv.texts = columns.others();
  csv.labels = columns.series;
  if (const std::vector<std::string> time = stored_vocabularies(config).time; !time.empty()) {
    csv.learned_time = time.front();
    if (time.size() > 1) csv.learned_format = time[1];
  }
  const bool forward = csv.missing == "forward" && !columns.series.empty();
  if (forward || !columns.known.empty()) csv.missing = "nan";
  csv.if_missing = "set data.missing = \"forward\" for the value of the row before, or fill it in";
  return {csv, ""};
}

void check_series(const Config& config) {
  check_columns_of_series(config);
  check_quantiles(config);
  const std::vector<double>& splits = config.number_list("data.splits");
  if (splits.size() != 3) fail(config, "data.splits", "must be three numbers");
  const bool rows = std::ranges::max(splits) > 1;
  if (rows && std::ranges::any_of(splits, [](double n) { return n != std::floor(n); }))
    fail(config, "data.splits", "must be rows, all whole, or fractions, all at most 1");
  if (!rows && splits[0] + splits[1] + splits[2] > 1 + 1e-9)
    fail(config, "data.splits", "must be fractions that add up to at most 1");
  if (config.text("model.backbone") == "attention")
    require_at_most(config, "model.patch.length", "data.lookback");
}

bool carries_forward(const Config& config, const SeriesColumns& columns) {
  return config.text("data.missing") == "forward" &&
         (config.flag("data.stamps") || !columns.series.empty() || !columns.known.empty());
}

LearnedTable read_series(const Config& config) {
  const auto files = expand_files(config.text_list("data.files"), std::filesystem::current_path());
  if (files.size() != 1)
    throw DataError("data.files: a series is one file, these are ", files.size());
  NamedArray table = read_array(files[0], table_options(config));
  try {
    const Vocabularies names = stored_vocabularies(config);
    SeriesColumns columns = series_columns(config);
    if (columns.targets.empty()) columns.targets = names.columns;
    const TextLevels levels = merged_levels(names.levels, text_levels(table, columns));
    if (!levels.empty()) columns = with_indicators(table, columns, levels);
    std::vector<TimeSeries> series = series_of(table, columns, carries_forward(config, columns));
    put_first(names.series, series);
    LearnedTable learned{std::move(series), levels};
    if (table.time && !table.columns.empty()) learned.time = {table.columns[*table.time]};
    if (!learned.time.empty() && !table.time_format.empty())
      learned.time.push_back(table.time_format);
    return learned;
  } catch (const DataError& error) {
    throw DataError(files[0].string(), ": ", error.what());
  }
}

}  // namespace bochner
