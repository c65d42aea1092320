#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/loss.hpp>
#include <bochner/base/text.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/tables/ensemble_pictures.hpp>
#include <bochner/train/tasks/tables/naive_regression.hpp>
#include <bochner/train/tasks/tables/table_ensemble_learner.hpp>
#include <bochner/train/tasks/tables/table_keys.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t fewest_rows = 10;

MixedTable read_mixed(const Config& config, const MixedFacts& known) {
  TableColumns columns = read_spec<TableSpec>(config, "data").columns;
  if (columns.inputs.empty() && !known.inputs.empty()) {
    for (const MixedColumn& input : known.inputs) columns.inputs.push_back(input.name);
    columns.target = known.target.name;
  }
  std::optional<MixedTable> all;
  for_each_table(config, [&](const std::filesystem::path&, const NamedArray& table) {
    MixedTable next = mixed_table(table, columns);
    if (all)
      append(*all, next);
    else
      all = std::move(next);
  });
  return std::move(*all);
}

/// Throws DataError for categories that the model does not know.
void require_known(const MixedColumn& known, const MixedColumn& found) {
  for (const std::string& category : found.categories)
    if (std::ranges::count(known.categories, category) == 0)
      throw DataError("data.files: column ", found.name, ": the model does not know ", category);
}

/// Numbers categories as the known column does.
void renumber(const MixedColumn& known, MixedColumn& column) {
  for (double& x : column.values)
    if (!std::isnan(x))
      x = double(std::ranges::find(known.categories, column.categories[std::size_t(x)]) -
                 known.categories.begin());
  column.categories = known.categories;
}

/// Renumbers the categories of all columns like the known ones.
MixedTable like(const MixedTable& known, MixedTable table) {
  if (table.inputs.size() != known.inputs.size())
    throw DataError("data.files: ", table.inputs.size(), " inputs; the model was trained on ",
                    known.inputs.size());
  const auto take = [](const MixedColumn& old, MixedColumn& column) {
    require_known(old, column);
    if (old.has_categories()) renumber(old, column);
  };
  for (std::size_t j = 0; j < table.inputs.size(); ++j) take(known.inputs[j], table.inputs[j]);
  take(known.target, table.target);
  return table;
}

/// Returns the training rows of a table, and their units.
MixedFacts training_facts(const Config& config, const MixedTable& table) {
  const TableSpec spec = table_spec(config);
  const TableRows all(encoded_table(table, table), spec);
  MixedTable training = table.chosen(all.training_numbers({}));
  if (const std::size_t n = training.target.values.size(); n < fewest_rows)
    throw DataError("column ", training.target.name, ": an ensemble needs at least ", fewest_rows,
                    " rows with a value, not ", n);
  const TableRows rows(encoded_table(training, training), {.columns = {}, .validation = 0});
  return {std::move(training.inputs), std::move(training.target), rows.units()};
}

/// Rows of the data, and the facts of those that an ensemble is or was fitted to.
struct TableData {
  MixedTable table;
  MixedFacts facts;

  TableData(const Config& config, const KnownFacts& known) {
    if (known.are_exact()) {
      facts = known.of<MixedFacts>();
      table = like(facts.table(), read_mixed(config, facts));
    } else {
      table = read_mixed(config, {});
      facts = training_facts(config, table);
    }
  }

  TableRows rows(const Config& config) const {
    TableRows rows(encoded_table(table, facts.table()), table_spec(config));
    rows.set_units(facts.units);
    return rows;
  }
};

/// Fits an ensemble to the rows of a table at once, before the first step; there are none.
class TableEnsembleTask : public Task {
 public:
  TableEnsembleTask(const Config& config, const KnownFacts& known)
      : TableEnsembleTask(config, TableData(config, known)) {}

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return rows_; }
  void start() override { learner_.model().fit(learner_.seen()); }

  Var loss(Tape& tape, const Examples& examples) override {
    return tape.constant(filled({}, real(evaluate(tape, examples).loss())));
  }

  Evaluation evaluate(Tape&, const Examples& examples) override {
    Evaluation result{0, 0, learner_.loss_unit()};
    if (learner_.has_classes())
      result.measures = {{"accuracy", "right", 0, true}};
    else
      result.measures = {{"mae", "mae"}, {"covered_80", "in the bands of 80 %", 0, true}};
    for (const Examples::Number& number : examples.numbers)
      add_rows(result, rows_.example(examples.split, number));
    return result;
  }

  /// Judges the rows of the competition, or other data.
  Verdict verdict(const HeldOut& held) override {
    return held.evaluation ? verdict_of_rows(held) : ensemble_verdict(learner_);
  }
  void illustrate(Page& page) override { add_ensemble(page, learner_); }

 private:
  TableEnsembleTask(const Config& config, TableData data)
      : rows_(data.rows(config)), learner_(config, std::move(data.facts)) {}

  Verdict verdict_of_rows(const HeldOut& held) {
    const Observations rows = rows_of_examples(rows_, held);
    const std::string data = format_number_of(rows.size(), "held-out row");
    const Evaluation result = held.evaluate(*this);
    if (!learner_.has_classes()) {
      const AnsweredRows& seen = learner_.seen();
      Verdict verdict{"RMSE of " + learner_.table().target.name, data, std::sqrt(result.loss()),
                      naive_regressions({seen.inputs, seen.answers[0]}, rows)};
      for (Score& naive : verdict.naive) naive.value *= learner_.unit().deviation;
      return verdict;
    }
    std::vector<double> counts(learner_.table().target.categories.size());
    for (const double target : rows.targets)
      ++counts[std::size_t(std::round(learner_.unit().original(target)))];
    return {"accuracy", data, result.mean("accuracy"), {most_frequent_class(counts)}, true};
  }

  void add_rows(Evaluation& result, const Observations& rows) const {
    const RowEstimates estimates = learner_.estimate(rows.inputs);
    const ColumnUnit& unit = learner_.unit();
    result.terms += rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double truth = unit.original(rows.targets[i]);
      if (learner_.has_classes()) {
        const auto p = [&](std::size_t k) { return estimates.values[k][i]; };
        const auto k = std::size_t(std::round(truth));
        bool is_right = true;
        for (std::size_t other = 0; other < estimates.values.size(); ++other)
          is_right &= other == k || p(other) < p(k);
        result.loss_sum -= std::log(std::max(p(k), 1e-15));
        result.measures[0].sum += is_right;
      } else {
        const double error = std::abs(truth - estimates.values[0][i]);
        result.loss_sum += error * error;
        result.measures[0].sum += error;
        result.measures[1].sum += error <= estimates.deviations[i];
      }
    }
  }

  TableRows rows_;
  TableEnsembleLearner learner_;
};

/// Returns how to read the table, with texts and missing cells.
ReadOptions mixed_options(const Config& config) {
  ReadOptions reading = regression_options(config);
  reading.csv.texts = config.text_list("data.categories");
  return reading;
}

}  // namespace

const char table_ensemble_template[] =
    R"(# A column of a table from others, by estimators that compete. See docs/gp.md.

[model]
kind = "ensemble"

[data]
kind = "table"
files = [{files}]
{columns}rows = {rows}                      # rows that are fitted, 0 for all
validation = 0                # fit to all rows; the competition holds out its own

[train]
steps = 0                     # fitted at once
)";

void add_table_ensemble_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "ensemble", open_as<TableEnsembleTask>,
                      learn_as<TableEnsembleLearner, smallest_mixed_facts>};
  add("table", validation_fraction, check_fitted_at_once, mixed_options);
}

}  // namespace bochner
