#include <fmt/format.h>

#include <bochner/autodiff/ops/elementwise.hpp>
#include <bochner/base/errors.hpp>
#include <bochner/data/tables/table_rows.hpp>
#include <bochner/layers/gaussian_processes/process_start.hpp>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/distribution_shift.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/tables/learned_process.hpp>
#include <bochner/train/tasks/tables/process_pictures.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/vocabularies.hpp>

namespace bochner {
namespace {

constexpr std::size_t most_exact_rows = 16384;      // 4 GiB of covariance and its inverse
constexpr std::size_t most_iterative_rows = 65536;  // 8 GiB of half a covariance in float

void require_rows(const std::string& method, std::size_t rows) {
  const std::size_t most = method == "exact" ? most_exact_rows : most_iterative_rows;
  if (method != "features" && rows > most)
    throw DataError("data.files: ", rows, " rows to train; model.gp.method = \"", method,
                    "\" takes ", most, " at most: choose \"features\"",
                    method == "exact" ? " or \"cg\"" : "");
}

/// What grows with the rank, the probes and the features besides, see their keys.
void require_memory(const GaussianProcessSpec& spec, std::size_t rows, std::size_t terms) {
  constexpr std::size_t most = std::size_t(4) << 30;
  const std::size_t rank = std::min(spec.cg.rank, rows);
  const std::size_t probes = std::min(spec.cg.probes, rows + rank);
  const std::size_t of_rows = rows * (2 * rank + 6 * probes) * 8;
  if (spec.method == "cg" && of_rows > most)
    throw DataError("data.files: ", rows, " rows with model.gp.cg.rank = ", spec.cg.rank,
                    " and model.gp.cg.probes = ", spec.cg.probes, " take ", of_rows >> 30,
                    " GiB; choose them so that they take less than ", most >> 30, " GiB");
  const std::size_t features = 2 * spec.density.m * terms;
  const std::size_t of_features = 16 * features * features;
  if (spec.method == "features" && of_features > most)
    throw DataError("model.gp.m = ", spec.density.m, ": ", features, " features take ",
                    of_features >> 30, " GiB, the square of their number; take less than ",
                    most >> 30, " GiB of them");
}

/// Without inputs those that a run has learned; the target is the last.
TableColumns regression_columns(const Config& config) {
  auto columns = read_spec<TableSpec>(config, "data").columns;
  const std::vector<std::string> learned = stored_vocabularies(config).columns;
  if (!columns.inputs.empty() || learned.empty()) return columns;
  return {{learned.begin(), learned.end() - 1}, learned.back()};
}

RegressionTable read_regression(const Config& config) {
  const TableColumns columns = regression_columns(config);
  std::vector<RegressionTable> tables;
  for_each_table(config, [&](const std::filesystem::path& file, const NamedArray& table) {
    tables.push_back(regression_table(table, columns));
    tables.back().file = file.string();
  });
  return merged(std::move(tables));
}

TableSpec table_spec(const Config& config) {
  auto spec = read_spec<TableSpec>(config, "data");
  spec.validation = config.number("data.validation");
  spec.seed = config.count("train.seed");
  return spec;
}

ProcessRows rows_of(const Observations& observations) {
  return {observations.inputs, observations.targets};
}

GaussianProcessSpec process_spec(const Config& config, const TableRows& data) {
  constexpr std::size_t most_components = 32;
  auto spec = read_spec<ProcessModelSpec>(config, "model").gp;
  spec.inputs = data.table().inputs.size();
  complete(spec.density, config);
  if (spec.density.components == 0)
    spec.density.components =
        count_waves(rows_of(data.training_rows()), most_components, spec.density.seed);
  return spec;
}

UnitsOfColumns columns_of(const std::vector<ColumnUnit>& units) {
  UnitsOfColumns columns;
  for (const ColumnUnit& unit : units) {
    columns.mean.push_back(unit.mean);
    columns.deviation.push_back(unit.deviation);
  }
  return columns;
}

/// A column of a table from others, by a Gaussian process.
class ProcessTask : public Task {
 public:
  explicit ProcessTask(const Config& config)
      : data_(read_regression(config), table_spec(config)), model_(process_spec(config, data_)) {
    const std::size_t rows = data_.training_rows().size();
    require_rows(model_.spec().method, rows);
    require_memory(model_.spec(), rows, model_.terms().size());
    initialize(model_, config.count("train.seed"));
    model_.set_units(data_.units());
  }

  void start() override {
    measure();
    model_.start(rows_of(data_.training_rows()));
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return data_; }
  Vocabularies names() const override {
    Vocabularies names{.columns = data_.table().inputs};
    names.columns.push_back(data_.table().target);
    return names;
  }
  std::vector<std::string> shifted_columns() override {
    return find_shifted(names().columns, columns_of(model_.units()),
                        columns_of(data_.training_units()));
  }

  /// -ln p(targets | inputs) for each row, and of the prior's for each that there is.
  Var loss(Tape& tape, const Examples& examples) override {
    measure();
    posterior_ = nullptr;  // its memory is as much as the step's
    Var total;
    for (const Examples::Number& number : examples.numbers) {
      const Observations rows = data_.example(examples.split, number);
      const double share = -1 / (double(rows.size()) * double(examples.size()));
      const Var part = model_.log_likelihood(tape, rows_of(rows)) * share;
      total = total.exists() ? total + part : part;
    }
    if (model_.spec().density.prior == 0) return total;
    return total + model_.log_prior(tape) * (-1 / double(data_.training_rows().size()));
  }

  /// -ln p(target | training rows) for each row, in the unit of the targets learned from, as the
  /// loss.
  Evaluation evaluate(Tape&, const Examples& examples) override {
    measure();
    Evaluation result{
        0, 0, "nats", {{"mse", "mse"}, {"covered_90", "in the bands of 90 %", 0, true}}};
    const double unit = data_.target_unit().deviation;
    for (const Examples::Number& number : examples.numbers) {
      const Observations rows = data_.example(examples.split, number);
      const ProcessPrediction predicted = predict_rows(rows);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double error = rows.targets[i] - predicted.mean[i];
        result.loss_sum -= predicted.log_density(i, rows.targets[i]);
        result.measures[0].sum += error * error * unit * unit;
        result.measures[1].sum += rows.targets[i] >= predicted.quantile(i, 0.05) &&
                                  rows.targets[i] <= predicted.quantile(i, 0.95);
      }
      result.terms += rows.size();
    }
    return result;
  }

  std::vector<std::string> input_columns() const override { return data_.table().inputs; }

  /// Rows of inputs -> the inputs, mean, deviation and quantiles of the target.
  NamedArray predict(const NamedArray& input) override {
    measure();
    const Observations rows = inputs_of(input, data_.table());
    const ProcessPrediction predicted = predict_rows(data_.standardized(rows));
    const std::size_t d = rows.inputs.size(), n = rows.size();
    const std::vector<double>& quantiles = model_.spec().quantiles;
    NamedArray array{xt::xarray<double>::from_shape({n, d + 2 + quantiles.size()}),
                     data_.table().inputs, data_.table().time};
    array.columns.insert(array.columns.end(), {"mean", "deviation"});
    for (const double q : quantiles) array.columns.push_back(fmt::format("q{:.12g}", 100 * q));
    const ColumnUnit unit = data_.target_unit();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < d; ++j) array.values(i, j) = rows.inputs[j][i];
      array.values(i, d) = unit.original(predicted.mean[i]);
      array.values(i, d + 1) = unit.deviation * predicted.deviation(i);
      for (std::size_t q = 0; q < quantiles.size(); ++q)
        array.values(i, d + 2 + q) = unit.original(predicted.quantile(i, quantiles[q]));
    }
    return array;
  }

  std::string describe_model() const override {
    const GaussianProcessSpec& spec = model_.spec();
    const std::string components =
        spec.density.kind == "mixture" ? fmt::format(" of {}", spec.density.components) : "";
    return fmt::format(
        "gp, {}, {} of {}{}, trend {}",
        spec.method == "features" ? fmt::format("m {}", spec.density.m) : spec.method,
        spec.inputs > 1 ? spec.combine : "kernel", spec.density.kind, components, spec.trend);
  }

  void illustrate(Page& page) override {
    measure();
    add_process(page, model_, data_,
                [this](const Observations& rows) { return predict_rows(rows); });
  }

 private:
  /// In the units of the model, which may have come from a checkpoint.
  void measure() {
    std::vector<ColumnUnit> units = model_.units();
    if (units == data_.units()) return;
    data_.set_units(std::move(units));
    posterior_ = nullptr;
  }

  /// Of rows in these units.
  ProcessPrediction predict_rows(const Observations& rows) {
    std::vector<double> now = model_.snapshot();
    if (!posterior_ || now != conditioned_at_) {
      posterior_ = model_.condition(rows_of(data_.training_rows()));
      conditioned_at_ = std::move(now);
    }
    return posterior_->predict(rows.inputs);
  }

  TableRows data_;
  LearnedProcess model_;
  std::vector<double> conditioned_at_;  // the parameters of
  std::unique_ptr<ProcessPosterior> posterior_;
};

}  // namespace

std::unique_ptr<Task> make_process_task(const Config& config) {
  return std::make_unique<ProcessTask>(config);
}

/// Parameters are called by the number of their input; of all columns of a table one stands for
/// all.
std::unique_ptr<Module> stand_in_process(const Config& config) {
  auto spec = read_spec<ProcessModelSpec>(config, "model").gp;
  spec.inputs = std::max<std::size_t>(1, config.text_list("data.inputs").size());
  complete(spec.density, config);
  spec.density.components = std::max<std::size_t>(1, spec.density.components);
  return std::make_unique<LearnedProcess>(spec);
}

/// Without columns of inputs, all of the table.
ReadOptions regression_options(const Config& config) {
  const TableColumns columns = read_spec<TableSpec>(config, "data").columns;
  std::vector<std::string> all = columns.inputs;
  if (!all.empty()) all.push_back(columns.target);
  CsvOptions csv = only_columns(config, config.text("data.time_column"), all);
  if (columns.target.empty()) csv.columns.clear();
  csv.missing = "nan";
  return {csv, ""};
}

}  // namespace bochner
