#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/layers/gaussian_processes/process_start.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/tables/process_learner.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

/// Returns the columns of the config, or the known ones if it names no inputs.
TableColumns regression_columns(const Config& config, const RegressionTable& known) {
  const auto columns = read_spec<TableSpec>(config, "data").columns;
  return columns.inputs.empty() && !known.inputs.empty() ? TableColumns{known.inputs, known.target}
                                                         : columns;
}

RegressionTable read_regression(const Config& config, const RegressionTable& known) {
  const TableColumns columns = regression_columns(config, known);
  std::vector<RegressionTable> tables;
  for_each_table(config, [&](const std::filesystem::path& file, const NamedArray& table) {
    tables.push_back(regression_table(table, columns));
    tables.back().file = file.string();
  });
  return merged(std::move(tables));
}

/// Returns the components of the mixture: those of the config, or as many as the training rows
/// need.
std::uint64_t count_components(const Config& config, const TableRows& rows) {
  constexpr std::size_t most_components = 32;
  auto spec = read_spec<ProcessModelSpec>(config, "model").gp.density;
  complete(spec, config);
  return spec.components > 0
             ? spec.components
             : count_waves(rows_of(rows.training_rows()), most_components, spec.seed);
}

/// Returns the rows of the data, with the known units if the number of columns is the same.
ProcessFacts facts_of(const Config& config, const KnownFacts& known) {
  ProcessFacts facts = known.of<ProcessFacts>();
  RegressionTable table = read_regression(config, facts.table);
  const bool has_units = facts.units.size() == table.inputs.size() + 1;
  if (known.are_exact() && !has_units)
    throw DataError("data.files: ", table.inputs.size(), " inputs; the model was trained on ",
                    facts.table.inputs.size());
  const TableRows rows(table, table_spec(config));
  if (!has_units) facts.units = rows.training_units();
  if (!known.are_exact()) facts.components = count_components(config, rows);
  facts.table = std::move(table);
  return facts;
}

UnitsOfColumns columns_of(const std::vector<ColumnUnit>& units) {
  UnitsOfColumns columns;
  for (const ColumnUnit& unit : units) {
    columns.mean.push_back(unit.mean);
    columns.deviation.push_back(unit.deviation);
  }
  return columns;
}

class ProcessTask : public Task, public HasUnits {
 public:
  ProcessTask(const Config& config, const KnownFacts& known)
      : learner_(config, facts_of(config, known)) {}

  void start() override { process().start(rows_of(rows().training_rows())); }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return learner_.rows(); }
  TaskAbilities abilities() override { return {.units = this}; }
  std::vector<std::string> shifted_columns() override {
    std::vector<std::string> names = rows().table().inputs;
    names.push_back(rows().table().target);
    return find_shifted(names, columns_of(rows().units()), columns_of(rows().training_units()));
  }

  /// Returns -ln p(targets | inputs) per row, plus -ln of the prior per training row if there is
  /// one.
  Var loss(Tape& tape, const Examples& examples) override {
    learner_.forget_posterior();  // it needs as much memory as a step
    Var total;
    for (const Examples::Number& number : examples.numbers) {
      const Observations some = rows().example(examples.split, number);
      const double share = -1 / (double(some.size()) * double(examples.size()));
      const Var part = process().log_likelihood(tape, rows_of(some)) * share;
      total = total.exists() ? total + part : part;
    }
    if (process().spec().density.prior == 0) return total;
    return total + process().log_prior(tape) * (-1 / double(rows().training_rows().size()));
  }

  /// Returns -ln p(target | training rows) per row, in the unit of the training targets.
  Evaluation evaluate(Tape&, const Examples& examples) override {
    Evaluation result{
        0, 0, "nats", {{"mse", "mse"}, {"covered_90", "in the bands of 90 %", 0, true}}};
    const double unit = rows().target_unit().deviation;
    for (const Examples::Number& number : examples.numbers) {
      const Observations some = rows().example(examples.split, number);
      const ProcessPrediction predicted = learner_.predict_rows(some);
      for (std::size_t i = 0; i < some.size(); ++i) {
        const double error = some.targets[i] - predicted.mean[i];
        result.loss_sum -= predicted.log_density(i, some.targets[i]);
        result.measures[0].sum += error * error * unit * unit;
        result.measures[1].sum += some.targets[i] >= predicted.quantile(i, 0.05) &&
                                  some.targets[i] <= predicted.quantile(i, 0.95);
      }
      result.terms += some.size();
    }
    return result;
  }

 private:
  GaussianProcess& process() { return learner_.model(); }
  const TableRows& rows() const { return learner_.rows(); }

  ProcessLearner learner_;
};

/// Returns facts for a model without data.
ProcessFacts assumed_process_facts(const Config&) { return {}; }

/// Returns how to read the table: all of its columns if no inputs are named.
ReadOptions regression_options(const Config& config) {
  const TableColumns columns = read_spec<TableSpec>(config, "data").columns;
  std::vector<std::string> all = columns.inputs;
  if (!all.empty()) all.push_back(columns.target);
  CsvOptions csv = only_columns(config, config.text("data.time_column"), all);
  if (columns.target.empty()) csv.columns.clear();
  csv.missing = "nan";
  return {csv, ""};
}

void check_table(const Config& config) {
  if (config.integer("data.rows") == 0 && config.integer("train.batch") != 1)
    fail(config, "train.batch", "must be 1 with data.rows = 0: each step sees all rows",
         "data.rows");
  for (const double quantile : config.number_list("model.gp.quantiles"))
    if (quantile <= 0 || quantile >= 1)
      fail(config, "model.gp.quantiles", "must be greater than 0 and less than 1");
  const std::string& start = config.text("model.gp.density.start");
  if ((start == "periodogram" || start == "em") &&
      config.text("model.gp.density.kind") != "mixture")
    fail(config, "model.gp.density.start", "needs model.gp.density.kind = \"mixture\"",
         "model.gp.density.kind");
  if (!config.text("data.time_format").empty() && config.text("data.time_column").empty())
    fail(config, "data.time_format", "needs data.time_column, the column to read",
         "data.time_column");
}

}  // namespace

const char gp_template[] =
    R"(# A Gaussian process: a column of a table from others, with uncertainty. See docs/gp.md.

[model]
kind = "gp"

[model.gp]
trend = "linear"
method = {method:<21}# features: for many rows
density.kind = "gaussian"     # of each input; others: student_t, mixture, ...
density.start = "search"      # the most likely scale and noise of a grid

[data]
kind = "table"
files = [{files}]
{columns}rows = {rows}                      # rows of a step, 0 for all
validation = 0.1              # of the rows, at random

[optim]
lr = 0.03
schedule.kind = "cosine"
schedule.warmup = 10

[train]
batch = 1
steps = 150
validate.every = 50
)";

void add_table_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "gp", open_as<ProcessTask>,
                      learn_as<ProcessLearner, assumed_process_facts>};
  add("table", validation_fraction, check_table, regression_options);
}

}  // namespace bochner
