#include <fmt/format.h>

#include <algorithm>
#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/layers/gaussian_processes/process_start.hpp>
#include <bochner/train/tasks/config_templates/templates.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/tables/naive_regression.hpp>
#include <bochner/train/tasks/tables/process_facts.hpp>
#include <bochner/train/tasks/tables/process_pictures.hpp>
#include <bochner/train/tasks/tables/table_keys.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <cmath>
#include <optional>

namespace bochner {
namespace {

ProcessRows rows_of(const Observations& observations) {
  return {observations.inputs, observations.targets};
}

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
std::optional<TableRows> process_rows_in_units(const Config& config, ProcessFacts& facts) {
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

/// Returns which of the inputs is the time column of a table, if its times are numeric.
std::optional<std::size_t> numeric_time_among(const std::vector<std::string>& inputs,
                                              const NamedArray& table) {
  for (std::size_t j = 0; j < inputs.size() && table.numeric_time; ++j)
    if (require_column(table, inputs[j]) == table.time) return j;
  return std::nullopt;
}

/// Predicts a column of a table from others, by a Gaussian process.
class ProcessLearner : public Learner, public AnswersTables {
 public:
  /// Throws DataError for more rows or features than the method can take.
  ProcessLearner(const Config& config, ProcessFacts facts)
      : rows_(process_rows_in_units(config, facts)),
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

  GaussianProcess& model() override { return model_; }
  std::string describe() const override {
    const GaussianProcessSpec& spec = model_.spec();
    const std::string components =
        spec.density.kind == "mixture" ? fmt::format(" of {}", spec.density.components) : "";
    return fmt::format(
        "gp, {}, {} of {}{}, trend {}",
        spec.method == "features" ? fmt::format("m {}", spec.density.m) : spec.method,
        spec.inputs > 1 ? spec.combine : "kernel", spec.density.kind, components, spec.trend);
  }
  std::string facts() const override {
    ProcessFacts facts{.components = components_};
    if (rows_) facts.table = rows_->table(), facts.units = rows_->units();
    return encode_facts(std::move(facts));
  }
  void illustrate(Page& page) override {
    add_process(page, model_, *rows_,
                [this](const Observations& rows) { return predict_rows(rows); });
  }
  LearnerAbilities abilities() override { return {.tables = this}; }

  ReadOptions read_options() const override { return reading_; }
  std::vector<std::string> input_columns() const override { return rows_->table().inputs; }
  /// Returns the inputs, and mean, deviation and quantiles of the target, for rows of inputs.
  NamedArray predict(const NamedArray& question) override {
    const RegressionTable& table = rows_->table();
    const Observations rows = inputs_of(question, table);
    const ProcessPrediction predicted = predict_rows(rows_->standardized(rows));
    const std::size_t d = rows.inputs.size(), n = rows.size();
    const std::vector<double>& quantiles = model_.spec().quantiles;
    NamedArray array{xt::xarray<double>::from_shape({n, d + 2 + quantiles.size()}), table.inputs,
                     table.time};
    if (const auto time = numeric_time_among(table.inputs, question)) {
      array.time = time, array.numeric_time = true, array.time_format = question.time_format;
    }
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

  /// Returns the rows, in the units of the model.
  const TableRows& rows() const { return *rows_; }
  /// Predicts rows in the units of the model. Conditions the process on the training rows again if
  /// its parameters have changed.
  ProcessPrediction predict_rows(const Observations& rows) {
    std::vector<double> now = model_.snapshot();
    if (!posterior_ || now != conditioned_at_) {
      posterior_ = model_.condition(rows_of(rows_->training_rows()));
      conditioned_at_ = std::move(now);
    }
    return posterior_->predict(rows.inputs);
  }
  /// Frees the posterior that predict_rows() caches.
  void forget_posterior() { posterior_ = nullptr; }

 private:
  std::optional<TableRows> rows_;  // none without facts
  std::uint64_t components_;
  ReadOptions reading_;
  GaussianProcess model_;
  std::vector<double> conditioned_at_;  // parameters of the cached posterior
  std::unique_ptr<ProcessPosterior> posterior_;
};

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
      : learner_(config,
                 known.only_evaluated ? known.of<ProcessFacts>() : facts_of(config, known)) {
    if (known.only_evaluated) other_.emplace(other_rows(config));
  }

  void start() override { process().start(rows_of(rows().training_rows())); }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return rows(); }
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

  Verdict verdict(const HeldOut& held) override;

 private:
  GaussianProcess& process() { return learner_.model(); }
  const TableRows& rows() const { return other_ ? *other_ : learner_.rows(); }
  /// Returns rows of data.files, all to evaluate on, in the units of the model.
  TableRows other_rows(const Config& config) const {
    TableRows other(read_regression(config, learner_.rows().table()), {.validation = 0});
    other.set_units(learner_.rows().units());
    return other;
  }

  ProcessLearner learner_;
  std::optional<TableRows> other_;  // only evaluated, while the learner keeps its own
};

Verdict ProcessTask::verdict(const HeldOut& held) {
  const Observations some = rows_of_examples(rows(), held);
  if (some.size() == 0) return {};
  Verdict verdict{"RMSE of " + rows().table().target, format_number_of(some.size(), "held-out row"),
                  std::sqrt(held.evaluate(*this).mean("mse")),
                  naive_regressions(learner_.rows().training_rows(), some)};
  for (Score& naive : verdict.naive) naive.value *= rows().target_unit().deviation;
  return verdict;
}

/// Returns facts for a model without data.
ProcessFacts assumed_process_facts(const Config&) { return {}; }

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

ReadOptions regression_options(const Config& config) {
  const TableColumns columns = read_spec<TableSpec>(config, "data").columns;
  std::vector<std::string> all = columns.inputs;
  if (!all.empty()) all.push_back(columns.target);
  CsvOptions csv = only_columns(config, config.text("data.time_column"), all);
  if (columns.target.empty()) csv.columns.clear();
  csv.missing = "nan";
  return {csv, ""};
}

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

const char gp_template[] =
    R"(# A Gaussian process: a column of a table from others, with uncertainty. See docs/gp.md.

[model]
kind = "gp"

[model.gp]
trend = "linear"
method = {method:<21}# features: for many rows
density.kind = "gaussian"     # of each input; others: student_t, mixture, ...
density.start = "search"      # the likeliest of several fits

[data]
kind = "table"
files = [{files}]
{columns}rows = {rows}                      # rows of a step, 0 for all
validation = 0.1              # of the rows, at random
)";

void add_table_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "gp", open_as<ProcessTask>,
                      learn_as<ProcessLearner, assumed_process_facts>};
  add("table", validation_fraction, check_table, regression_options);
  kinds.back().keeps_data = true;
}

}  // namespace bochner
