#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/tables/process_learner.hpp>
#include <bochner/train/tasks/tables/process_pictures.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t most_exact_rows = 16384;      // 4 GiB of covariance and its inverse
constexpr std::size_t most_iterative_rows = 65536;  // 8 GiB of half a covariance in float

void require_rows(const std::string& method, std::size_t rows) {
  const std::size_t most = method == "exact" ? most_exact_rows : most_iterative_rows;
  if (method != "features" && rows > most)
    throw DataError("data.files: ", rows, " training rows; model.gp.method = \"", method,
                    "\" takes at most ", most, ": choose \"features\"",
                    method == "exact" ? " or \"cg\"" : "");
}

/// Throws DataError if rank and probes, or features, need more than 4 GiB; see their keys.
void require_memory(const GaussianProcessSpec& spec, std::size_t rows, std::size_t terms) {
  constexpr std::size_t most = std::size_t(4) << 30;
  const std::size_t rank = std::min(spec.cg.rank, rows);
  const std::size_t probes = std::min(spec.cg.probes, rows + rank);
  const std::size_t of_rows = rows * (2 * rank + 6 * probes) * 8;
  if (spec.method == "cg" && of_rows > most)
    throw DataError("data.files: ", rows, " rows with model.gp.cg.rank = ", spec.cg.rank,
                    " and model.gp.cg.probes = ", spec.cg.probes, " take ", of_rows >> 30,
                    " GiB; lower them to take less than ", most >> 30, " GiB");
  const std::size_t features = 2 * spec.density.m * terms;
  const std::size_t of_features = 16 * features * features;
  if (spec.method == "features" && of_features > most)
    throw DataError(
        "model.gp.m = ", spec.density.m, ": ", features, " features take ", of_features >> 30,
        " GiB, quadratic in their number; lower it to take less than ", most >> 30, " GiB");
}

/// Returns all rows of the facts with their units; nothing without rows.
std::optional<TableRows> rows_in_units(const Config& config, ProcessFacts& facts) {
  if (facts.units.empty()) return std::nullopt;
  std::optional<TableRows> rows(std::in_place, std::move(facts.table), table_spec(config));
  rows->set_units(std::move(facts.units));
  return rows;
}

/// Returns the spec of the model. Without rows it suffices for the names of parameters.
GaussianProcessSpec process_spec(const Config& config, const TableRows* rows,
                                 std::size_t components) {
  auto spec = read_spec<ProcessModelSpec>(config, "model").gp;
  spec.inputs = rows ? rows->table().inputs.size()
                     : std::max<std::size_t>(1, config.text_list("data.inputs").size());
  complete(spec.density, config);
  if (spec.density.components == 0) spec.density.components = components;
  return spec;
}

/// Throws DataError unless squares of the numbers can be summed; NaN is missing.
void require_numbers(const std::vector<double>& numbers, bool may_miss) {
  constexpr double largest = 1e140;  // the limit of tables that are read
  for (const double x : numbers)
    if (!(std::abs(x) <= largest) && !(may_miss && std::isnan(x)))
      throw DataError("facts of a table hold a number that is too large or missing");
}

}  // namespace

void ProcessFacts::check() const {
  const Observations& all = table.observations;
  const std::size_t d = table.inputs.size();
  require_size("inputs of a table", d, std::uint64_t(1) << 16);
  require_size("components of a mixture", components, 1024);
  if (all.inputs.size() != d || units.size() != d + 1 || (table.time && *table.time >= d))
    throw DataError("facts of a table with ", d, " inputs are inconsistent");
  for (const std::vector<double>& column : all.inputs) {
    if (column.size() != all.targets.size())
      throw DataError("facts of a table whose columns have ", column.size(), " and ",
                      all.targets.size(), " rows");
    require_numbers(column, false);
  }
  require_numbers(all.targets, true);
  for (const ColumnUnit& unit : units)
    if (!std::isfinite(unit.mean) || !std::isfinite(unit.deviation) || !(unit.deviation > 0))
      throw DataError("facts of a table hold a unit that is not greater than 0");
}

TableSpec table_spec(const Config& config) {
  auto spec = read_spec<TableSpec>(config, "data");
  spec.validation = config.number("data.validation");
  spec.seed = config.count("train.seed");
  return spec;
}

ProcessLearner::ProcessLearner(const Config& config, ProcessFacts facts)
    : rows_(rows_in_units(config, facts)),
      components_(facts.components),
      reading_(table_options(config)),
      model_(process_spec(config, rows_ ? &*rows_ : nullptr, components_)) {
  if (rows_) {
    const std::size_t rows = rows_->training_rows().size();
    require_rows(model_.spec().method, rows);
    require_memory(model_.spec(), rows, model_.terms().size());
  }
  initialize(model_, config.count("train.seed"));
}

std::string ProcessLearner::facts() const {
  ProcessFacts facts{.components = components_};
  if (rows_) facts.table = rows_->table(), facts.units = rows_->units();
  return encode_facts(std::move(facts));
}

std::string ProcessLearner::describe() const {
  const GaussianProcessSpec& spec = model_.spec();
  const std::string components =
      spec.density.kind == "mixture" ? fmt::format(" of {}", spec.density.components) : "";
  return fmt::format("gp, {}, {} of {}{}, trend {}",
                     spec.method == "features" ? fmt::format("m {}", spec.density.m) : spec.method,
                     spec.inputs > 1 ? spec.combine : "kernel", spec.density.kind, components,
                     spec.trend);
}

ProcessPrediction ProcessLearner::predict_rows(const Observations& rows) {
  std::vector<double> now = model_.snapshot();
  if (!posterior_ || now != conditioned_at_) {
    posterior_ = model_.condition(rows_of(rows_->training_rows()));
    conditioned_at_ = std::move(now);
  }
  return posterior_->predict(rows.inputs);
}

NamedArray ProcessLearner::predict(const NamedArray& question) {
  const RegressionTable& table = rows_->table();
  const Observations rows = inputs_of(question, table);
  const ProcessPrediction predicted = predict_rows(rows_->standardized(rows));
  const std::size_t d = rows.inputs.size(), n = rows.size();
  const std::vector<double>& quantiles = model_.spec().quantiles;
  NamedArray array{xt::xarray<double>::from_shape({n, d + 2 + quantiles.size()}), table.inputs,
                   table.time};
  array.columns.insert(array.columns.end(), {"mean", "deviation"});
  for (const double q : quantiles) array.columns.push_back(fmt::format("q{:.12g}", 100 * q));
  const ColumnUnit unit = rows_->target_unit();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) array.values(i, j) = rows.inputs[j][i];
    array.values(i, d) = unit.original(predicted.mean[i]);
    array.values(i, d + 1) = unit.deviation * predicted.deviation(i);
    for (std::size_t q = 0; q < quantiles.size(); ++q)
      array.values(i, d + 2 + q) = unit.original(predicted.quantile(i, quantiles[q]));
  }
  return array;
}

void ProcessLearner::illustrate(Page& page) {
  add_process(page, model_, *rows_,
              [this](const Observations& rows) { return predict_rows(rows); });
}

}  // namespace bochner
