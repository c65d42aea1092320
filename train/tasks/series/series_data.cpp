#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/formats/read_array.hpp>
#include <bochner/train/tasks/series/series_data.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>
#include <filesystem>
#include <functional>

namespace bochner {
namespace {

constexpr std::uint64_t most_rows = 1 << 20, most_values = 1 << 30;

void require_fact(bool is_so, const char* what) {
  if (!is_so) throw DataError("facts of series are damaged: ", what);
}

template <class Array>
bool has_shape(const Array& array, std::initializer_list<std::uint64_t> shape) {
  return std::ranges::equal(array.shape(), shape);
}

void check_specimen(const SeriesFacts& facts, const SeriesBatch& one) {
  const std::uint64_t V = facts.variates, L = facts.lookback, H = facts.horizon, C = facts.channels;
  require_fact(has_shape(one.past, {1, V, L}) && has_shape(one.future, {1, V, H}) &&
                   has_shape(one.times, {1, L + H}) &&
                   (C == 0 || has_shape(one.covariates, {1, C, L + H})),
               "a specimen has the wrong shape");
  require_fact(one.series.size() == 1 && one.series[0] < facts.ids.size(),
               "a specimen belongs to an unknown series");
}

void check_steps(const SeriesFacts& facts) {
  const bool timed = !facts.step_of.empty();
  require_fact(timed ? facts.step_of.size() == facts.ids.size() : facts.crosses_pauses == 0,
               "the number of time steps");
  require_fact(
      std::ranges::all_of(facts.step_of, [&](std::uint64_t i) { return i < facts.steps.size(); }) &&
          std::ranges::all_of(facts.steps, &TimeStep::is_valid),
      "a time step");
}

/// Throws ConfigError if a column has two roles.
void check_columns_of_series(const Config& config) {
  std::vector<std::string> seen;
  for (const char* key : {"data.columns", "data.series", "data.known", "data.static"})
    for (const std::string& name : config.text_list(key)) {
      if (std::ranges::count(seen, name) > 0 || name == config.text("data.time_column"))
        fail(config, key, fmt::format("names {}, which has another role already", excerpt(name)));
      seen.push_back(name);
    }
}

/// Returns the series of a table, without their future rows: those at the end without targets.
std::vector<TimeSeries> series_of(NamedArray& table, const SeriesColumns& columns, bool carries) {
  std::vector<TimeSeries> all;
  for (SeriesRows& part : rows_of_series(table, columns.series)) {
    if (!columns.known.empty())
      part.rows.resize(part.rows.size() - rows_to_forecast(table, columns, part.rows));
    if (part.rows.empty()) continue;
    if (carries) carry_forward(table, columns, part.rows);
    all.push_back(time_series(table, columns, part));
  }
  if (all.empty()) throw DataError("no row has a value in the columns to forecast");
  return all;
}

/// Sorts known series first, in their order.
void put_first(const std::vector<std::vector<std::string>>& known,
               std::vector<TimeSeries>& series) {
  std::ranges::stable_sort(series, {}, [&](const TimeSeries& one) {
    return std::ranges::find(known, one.id) - known.begin();
  });
}

/// Returns the known facts, without ids if they belong to other id columns.
SeriesFacts known_series(const Config& config, const KnownFacts& known) {
  SeriesFacts facts = known.of<SeriesFacts>();
  if (facts.series != config.text_list("data.series")) facts.ids.clear();
  return facts;
}

/// Sets the different time steps and the one of each series.
void set_steps(SeriesFacts& facts, const SeriesWindows& windows) {
  if (windows.series().times.empty()) return;
  for (std::size_t number = 0; number < windows.count(); ++number) {
    const TimeStep step = windows.series(number).time_step().by({});
    const auto found = std::ranges::find(facts.steps, step);
    facts.step_of.push_back(std::uint64_t(found - facts.steps.begin()));
    if (found == facts.steps.end()) facts.steps.push_back(step);
  }
}

SeriesFacts found_names(const Config& config, const SeriesTable& table,
                        const SeriesWindows& windows) {
  SeriesFacts facts{.columns = windows.series().names,
                    .series = config.text_list("data.series"),
                    .ids = {},
                    .levels = table.levels};
  for (std::size_t number = 0; number < windows.count(); ++number)
    facts.ids.push_back(windows.series(number).id);
  return facts;
}

void require_known(const Config& config, const SeriesFacts& known, const SeriesFacts& found,
                   const SeriesWindows& windows) {
  require_known_names("series", known.names(), found.names());
  require_known_names("covariate", flattened_levels(known.levels), flattened_levels(found.levels));
  if (config.text_list("data.columns").empty())
    require_known_names("column", known.columns, found.columns);
  if (windows.series().variates() != known.variates ||
      windows.series().channels() != known.channels)
    throw DataError("data.files: the model was trained on ", known.variates, " variates and ",
                    known.channels, " covariates; the data have ", windows.series().variates(),
                    " and ", windows.series().channels());
  const auto [lookback, horizon] = std::pair(windows.spec().lookback, windows.spec().horizon);
  if (lookback != known.lookback || horizon != known.horizon)
    throw DataError("data.lookback, data.horizon: the model was trained on windows of ",
                    known.lookback, " and ", known.horizon, " rows, not of ", lookback, " and ",
                    horizon);
}

}  // namespace

void SeriesFacts::check() const {
  require_size("variates", variates, most_rows);
  require_size("covariates", channels + 1, most_rows);
  require_size("rows of a window", lookback, most_rows);
  require_size("rows after a window", horizon, most_rows);
  require_size("training windows", examples, std::uint64_t(1) << 32);
  require_size("series", ids.size(), most_rows);
  require_size("weights of a window", lookback * horizon, most_values);
  require_size("units of series", variates * ids.size(), most_values);
  require_fact(columns.empty() || columns.size() == variates, "the number of columns");
  const auto is_id = [&](const std::vector<std::string>& id) { return id.size() == series.size(); };
  require_fact(std::ranges::all_of(ids, is_id) && (!series.empty() || ids.size() == 1),
               "ids of series do not match their columns");
  check_steps(*this);
  for (const SeriesBatch& one : specimens) check_specimen(*this, one);
}

std::optional<std::size_t> SeriesFacts::number_of(const std::vector<std::string>& id) const {
  const auto found = std::ranges::find(ids, id);
  if (found == ids.end()) return std::nullopt;
  return std::size_t(found - ids.begin());
}

const TimeStep* SeriesFacts::step(std::size_t number) const {
  return step_of.empty() ? nullptr : &steps[step_of[number]];
}

std::vector<std::string> SeriesFacts::names() const {
  std::vector<std::string> names;
  for (const std::vector<std::string>& id : ids)
    if (!id.empty()) names.push_back(words_of(id));
  return names;
}

std::string variate_name(const TimeSeries& series, std::size_t variate) {
  return (series.names.empty() ? fmt::format("variate {}", variate + 1) : series.names[variate]) +
         (series.id.empty() ? "" : " of " + words_of(series.id));
}

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
  }
  csv.adds_time = true;
  csv.texts = columns.others();
  csv.labels = columns.series;
  const bool forward = csv.missing == "forward" && !columns.series.empty();
  if (forward || !columns.known.empty()) csv.missing = "nan";
  csv.if_missing = "set data.missing = \"forward\" to repeat the value before it, or fill it in";
  return {csv, ""};
}

ReadOptions series_options(const Config& config, const SeriesFacts& known) {
  ReadOptions options = series_options(config);
  options.csv.learned_time = known.time;
  options.csv.learned_format = known.time_format;
  return options;
}

ReadOptions question_options(const Config& config, const SeriesFacts& known) {
  ReadOptions options = series_options(config, known);
  if (options.csv.missing == "forward") options.csv.missing = "nan";
  options.csv.keeps_missing_numbers = true;
  return options;
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
         "must be false with model.loss = \"quantile\": a negative gain reverses quantiles",
         "model.loss");
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

SeriesTable read_series(const Config& config, const KnownFacts& known) {
  const auto names = table_names(config);
  if (names.size() != 1)
    throw DataError("data.files: must match one file for data.kind = \"series\", not ",
                    names.size());
  const SeriesFacts facts = known_series(config, known);
  NamedArray table = read_table(config, names[0], series_options(config, facts));
  try {
    SeriesColumns columns = series_columns(config);
    if (columns.targets.empty()) columns.targets = facts.columns;
    const TextLevels levels =
        merged_levels(flattened_levels(facts.levels), text_levels(table, columns));
    if (!levels.empty()) columns = with_indicators(table, columns, levels);
    std::vector<TimeSeries> series = series_of(table, columns, carries_forward(config, columns));
    put_first(facts.ids, series);
    SeriesTable read{std::move(series), levels};
    if (!table.time || table.columns.empty()) return read;
    read.time = table.columns[*table.time];
    read.time_format = table.time_format;
    return read;
  } catch (const DataError& error) {
    throw DataError(names[0].string(), ": ", error.what());
  }
}

SeriesSpec series_spec(const Config& config) {
  auto spec = read_spec<SeriesSpec>(config, "data");
  spec.seed = config.count("train.seed");
  return spec;
}

SeriesFacts series_facts(const Config& config, const SeriesTable& table,
                         const SeriesWindows& windows, const KnownFacts& known) {
  SeriesFacts facts = found_names(config, table, windows);
  if (known.are_exact()) {
    SeriesFacts learned = known.of<SeriesFacts>();
    require_known(config, learned, facts, windows);
    return learned;
  }
  facts.variates = windows.series().variates();
  facts.channels = windows.series().channels();
  facts.lookback = windows.spec().lookback;
  facts.horizon = windows.spec().horizon;
  facts.examples = windows.examples(Split::train);
  facts.left_out = windows.left_out();
  facts.time = table.time;
  facts.time_format = table.time_format;
  set_steps(facts, windows);
  facts.crosses_pauses = windows.crosses_pauses();
  facts.specimens =
      take_specimens(windows, (facts.variates + facts.channels) * (facts.lookback + facts.horizon));
  return facts;
}

SeriesFacts smallest_series_facts(const Config& config) {
  const SeriesColumns columns = series_columns(config);
  return {.channels = columns.covariates() > 0 ? 1u : 0u,
          .lookback = config.count("data.lookback"),
          .horizon = config.count("data.horizon"),
          .series = columns.series,
          .ids = {std::vector<std::string>(columns.series.size())}};
}

}  // namespace bochner
