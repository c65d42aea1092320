#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/numeric/conformal.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/config/usage.hpp>
#include <bochner/train/tasks/conformal/class_calibration.hpp>
#include <bochner/train/tasks/series/forecast_requests.hpp>
#include <bochner/train/tasks/tables/table_ensemble_learner.hpp>
#include <bochner/train/tasks/tables/table_keys.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

namespace bochner {
namespace {

TableEnsembleSpec table_ensemble_spec(const Config& config, const MixedTable& table) {
  auto spec = read_spec<TableEnsembleSpec>(config, "model");
  spec.groups = encoded_inputs(table, table).groups;
  spec.inputs = spec.groups.size();
  spec.classes = table.target.categories.size();
  spec.rows = table.target.values.size();
  spec.seed = config.count("train.seed");
  return spec;
}

/// Appends a column to an array of rows.
void add_column(NamedArray& array, const std::string& name, const std::vector<double>& values) {
  const std::size_t j = array.columns.size();
  array.columns.push_back(name);
  for (std::size_t i = 0; i < values.size(); ++i) array.values(i, j) = values[i];
}

/// Returns the inputs of a question with room for more columns.
NamedArray inputs_of_question(const NamedArray& question, const MixedTable& table,
                              std::size_t more) {
  const std::size_t n = question.values.shape()[0], d = table.inputs.size();
  NamedArray array{xt::xarray<double>::from_shape({n, d + more}), {}};
  for (std::size_t j = 0; j < d; ++j) {
    const std::size_t from = require_column(question, table.inputs[j].name);
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = question.values(i, from);
    if (const auto texts = question.texts.find(from); texts != question.texts.end())
      array.texts[j] = texts->second;
    add_column(array, table.inputs[j].name, values);
  }
  return array;
}

}  // namespace

TableSpec table_spec(const Config& config) {
  auto spec = read_spec<TableSpec>(config, "data");
  spec.validation = config.number("data.validation");
  spec.seed = config.count("train.seed");
  return spec;
}

void MixedFacts::check() const {
  require_size("inputs of a table", inputs.size(), std::uint64_t(1) << 16);
  const auto check_column = [&](const MixedColumn& column) {
    if (column.values.size() != target.values.size())
      throw DataError("facts of a table whose columns have ", column.values.size(), " and ",
                      target.values.size(), " rows");
    const double most = column.has_categories() ? double(column.categories.size()) - 1 : 1e140,
                 least = column.has_categories() ? 0 : -1e140;
    for (const double x : column.values)
      if (!std::isnan(x) &&
          (x < least || x > most || (column.has_categories() && x != std::floor(x))))
        throw DataError("facts of a table hold a number that is too large, or is not a category");
  };
  for (const MixedColumn& column : inputs) check_column(column);
  check_column(target);
  if (target.values.size() < 2 ||
      std::ranges::any_of(target.values, [](double y) { return std::isnan(y); }))
    throw DataError("facts of a table hold a target that is missing, or no rows");
  const MixedTable table{inputs, target};
  const std::size_t encoded = encoded_inputs(table, table).names.size();
  if (units.size() != encoded + 1)
    throw DataError("facts of a table with ", encoded, " inputs and ", units.size(), " units");
  for (const ColumnUnit& unit : units)
    if (!std::isfinite(unit.mean) || !std::isfinite(unit.deviation) || !(unit.deviation > 0))
      throw DataError("facts of a table hold a unit that is not greater than 0");
}

MixedFacts smallest_mixed_facts(const Config&) {
  constexpr std::size_t rows = 10;
  return {{{"input", {}, std::vector<double>(rows)}},
          {"target", {}, std::vector<double>(rows)},
          std::vector<ColumnUnit>(2)};
}

TableEnsembleLearner::TableEnsembleLearner(const Config& config, MixedFacts facts)
    : table_{std::move(facts.inputs), std::move(facts.target)},
      units_(std::move(facts.units)),
      reading_(table_options(config)),
      seen_(answered()),
      model_(table_ensemble_spec(config, table_)) {}

std::string TableEnsembleLearner::describe() const {
  return fmt::format(
      "ensemble of {} estimators of {}", model_.members().size(),
      has_classes() ? fmt::format("{} classes", table_.target.categories.size()) : "a number");
}

std::string TableEnsembleLearner::facts() const {
  return encode_facts(MixedFacts{table_.inputs, table_.target, units_});
}

std::vector<std::string> TableEnsembleLearner::input_columns() const {
  std::vector<std::string> names;
  for (const MixedColumn& input : table_.inputs) names.push_back(input.name);
  return names;
}

AnsweredRows TableEnsembleLearner::answered() const {
  AnsweredRows rows{standardized(encoded_inputs(table_, table_).values),
                    Columns(has_classes() ? table_.target.categories.size() : 1)};
  for (const double y : table_.target.values)
    for (std::size_t k = 0; k < rows.answers.size(); ++k)
      rows.answers[k].push_back(has_classes() ? double(y == double(k)) : unit().standard(y));
  return rows;
}

Columns TableEnsembleLearner::standardized(Columns inputs) const {
  for (std::size_t j = 0; j < inputs.size(); ++j)
    for (double& x : inputs[j]) x = units_[j].standard(x);
  return inputs;
}

RowEstimates TableEnsembleLearner::estimate(const Columns& inputs) const {
  RowEstimates estimates = model_.estimate(seen_, inputs);
  if (has_classes()) return estimates;
  for (double& x : estimates.values[0]) x = unit().original(x);
  for (double& x : estimates.deviations) x *= unit().deviation;
  return estimates;
}

std::vector<std::pair<std::string, double>> TableEnsembleLearner::bands() const {
  if (level_ == 0) {
    const double outer = model_.band_ratio();
    return {{"", 0}, {"_0.025", -outer}, {"_0.1", -1}, {"_0.9", 1}, {"_0.975", outer}};
  }
  const TableContest contest = model_.contest();
  std::vector<double> truth;
  for (const std::size_t row : contest.rows) truth.push_back(seen_.answers[0][row]);
  const std::vector<double> scores = scaled_errors(contest.held, truth);
  const double width = conformal_quantile(scores, level_) / contest.bands[0];
  demand(std::isfinite(width), "--coverage {}: is too high for {} held-out rows; ask for less",
         level_, scores.size());
  const std::vector<std::string> ends = interval_endings(level_);
  return {{"", 0}, {ends[0], -width}, {ends[1], width}};
}

NamedArray TableEnsembleLearner::with_sets(const NamedArray& answer) const {
  const TableContest contest = model_.contest();
  Calibration held{.classes = table_.target.categories,
                   .scores = std::vector<std::vector<double>>(table_.target.categories.size())};
  for (std::size_t i = 0; i < contest.rows.size(); ++i)
    for (std::size_t k = 0; k < held.scores.size(); ++k)
      if (seen_.answers[k][contest.rows[i]] > 0)
        held.scores[k].push_back(1 - contest.held.values[k][i]);
  return with_class_sets(answer, "p_", held, level_);
}

NamedArray TableEnsembleLearner::predict(const NamedArray& question) {
  notes_.clear();
  EncodedInputs encoded = encoded_inputs(question, table_, notes_);
  const RowEstimates estimates = estimate(standardized(std::move(encoded.values)));
  const std::string& target = table_.target.name;
  const std::size_t n = question.values.shape()[0], K = estimates.values.size();
  const auto all_bands = has_classes() ? decltype(bands())() : bands();
  NamedArray array = inputs_of_question(question, table_, has_classes() ? K + 1 : all_bands.size());
  std::vector<double> column(n);
  if (!has_classes()) {
    for (const auto& [ending, width] : all_bands) {
      for (std::size_t i = 0; i < n; ++i)
        column[i] = estimates.values[0][i] + width * estimates.deviations[i];
      add_column(array, target + ending, column);
    }
    return array;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const auto p = [&](std::size_t k) { return estimates.values[k][i]; };
    for (std::size_t k = 1, best = 0; k < K; ++k)
      column[i] = double(p(k) > p(best) ? best = k : best);
  }
  array.texts[array.columns.size()] = table_.target.categories;
  add_column(array, target, column);
  for (std::size_t k = 0; k < K; ++k)
    add_column(array, "p_" + table_.target.categories[k], estimates.values[k]);
  return level_ > 0 ? with_sets(array) : array;
}

}  // namespace bochner
