#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/layers/models/sensor_model.hpp>
#include <bochner/layers/module.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/distribution_shift.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/fields/sensor_questions.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
#include <bochner/train/tasks/vocabularies.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::uint64_t shown_sensor_windows = 16;
constexpr std::size_t drawn_nodes = 12;  // of the encoding, along each axis
constexpr std::size_t questions_at_once = 64;

/// Without columns of values those that a run has learned.
SensorTable read_sensors(const Config& config) {
  SensorColumns columns = sensor_columns(config);
  if (columns.values.empty()) columns.values = stored_vocabularies(config).columns;
  std::vector<SensorTable> tables;
  for_each_table(config, [&](const std::filesystem::path&, const NamedArray& table) {
    tables.push_back(sensor_table(table, columns));
  });
  return merged(tables);
}

SensorSpec sensor_spec(const Config& config) {
  auto spec = read_spec<SensorSpec>(config, "data");
  spec.length = config.count("data.length");
  spec.validation = config.number("data.validation");
  spec.seed = config.count("train.seed");
  return spec;
}

SensorModelSpec sensor_model_spec(const Config& config, const SensorTable& table) {
  auto spec = read_spec<SensorModelSpec>(config, "model");
  spec.variates = table.variates;
  spec.dimensions = table.dimensions;
  spec.encoding.space.seed = spec.encoding.time.seed = config.count("train.seed");
  complete(spec.stack, config, config.count("data.length"));
  return spec;
}

SensorReadings view(const SensorBatch& batch) {
  return {batch.values, batch.seen, batch.places, batch.times};
}

/// Values of sensors at places and times where they are hidden.
class SensorTask : public Task {
 public:
  explicit SensorTask(const Config& config)
      : columns_(sensor_columns(config)),
        data_(read_sensors(config), sensor_spec(config)),
        model_(sensor_model_spec(config, data_.table())) {
    initialize(model_, config.count("train.seed"));
    const SensorScale scale = data_.scale();
    model_.standardize().set(scale.mean, scale.deviation);
    model_.scale().set(scale.places.origin, scale.places.extent, scale.span);
  }

  Module& model() override { return model_; }
  const Dataset& data() const override { return data_; }
  std::string loss_unit() const override { return "mse"; }
  Vocabularies names() const override { return {.columns = data_.table().value_names()}; }
  std::vector<std::string> shifted_columns() override {
    const Standardize& unit = model_.standardize();
    const std::vector<std::string>& names = data_.table().names;
    const SensorScale here = data_.scale();
    return find_shifted({names.end() - std::ptrdiff_t(data_.table().variates), names.end()},
                        {unit.means(), unit.deviations()}, {here.mean, here.deviation});
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const SensorBatch batch = in_unit(data_.batch(examples));
    return model_.loss(tape, view(batch), batch.targets, batch.asked);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const SensorBatch batch = in_unit(data_.batch(examples));
    const Var predicted = model_.predict(tape, view(batch));
    Evaluation result{0, 0, "mse", {{"mean_seen", "mse of the mean of what is seen"}}};
    const std::size_t T = data_.spec().length, V = data_.table().variates;
    for (std::size_t i = 0; i < batch.asked.size(); ++i) {
      if (batch.asked.data()[i] == 0) continue;
      const std::size_t first = i / (T * V) * T * V + i % V;  // of the window and variate
      double sum = 0, seen = 0;
      for (std::size_t t = 0; t < T; ++t) {
        sum += double(batch.values.data()[first + t * V]);
        seen += double(batch.seen.data()[first + t * V]);
      }
      const double truth = double(batch.targets.data()[i]);
      result.terms += 1;
      result.loss_sum += std::pow(double(predicted.data()[i]) - truth, 2);
      result.measures[0].sum += std::pow((seen > 0 ? sum / seen : 0) - truth, 2);
    }
    return result;
  }

  NamedArrays arrays(const Examples& examples) override {
    const SensorBatch batch = in_unit(data_.batch(examples));
    const std::size_t B = batch.values.shape()[0], T = batch.values.shape()[1];
    Tape tape({.recording = false});
    return {{"values", array_of(batch.values)},
            {"seen", array_of(batch.seen)},
            {"places", array_of(batch.places, {B, T, data_.table().dimensions})},
            {"times", array_of(batch.times, {B, T})},
            {"targets", array_of(batch.targets)},
            {"asked", array_of(batch.asked)},
            {"outputs", array_of(model_.predict(tape, view(batch)).value())}};
  }
  Json sizes() const override { return Json{{"length", data_.spec().length}}; }

  /// Rows of time, place and values -> those of them that miss a value, with what is missing filled
  /// in, see questions_of().
  NamedArray predict(const NamedArray& input) override {
    const SensorTable table =
        sensor_table(input, columns_named_like(input, columns_, data_.table()));
    if (table.variates != data_.table().variates)
      throw DataError("the input has ", table.variates, " columns of values, the model ",
                      data_.table().variates);
    SensorTable filled = table;
    std::vector<std::size_t> rows;
    const std::vector<SensorQuestion> questions = questions_of(table, data_.spec());
    for (std::span<const SensorQuestion> left(questions); !left.empty();) {
      const auto now = left.first(alike(left, questions_at_once));
      left = left.subspan(now.size());
      const Tensor values = values_of(batch_of(table, now));
      const std::size_t T = now[0].rows.size();
      for (std::size_t i = 0; i < now.size() * T; ++i)
        if (const SensorQuestion& question = now[i / T]; question.asked[i % T]) {
          fill(filled, question.rows[i % T], values.data() + i * table.variates);
          rows.push_back(question.rows[i % T]);
        }
    }
    std::ranges::sort(rows, {}, [&](std::size_t row) { return table.rows[row]; });
    return as_array(filled, rows, input.time.has_value());
  }

  std::string describe_model() const override {
    const SensorModelSpec& spec = model_.spec();
    return fmt::format("field, {}, encoding {}{}", describe_stack(spec.stack), spec.encoding.kind,
                       spec.every_block ? " in every block" : "");
  }

  void illustrate(Page& page) override {
    add_readings(page);
    add_encoding(page, model_, even_grid(data_.table().dimensions, drawn_nodes));
  }

 private:
  /// Truth and prediction of what the first validation windows ask for.
  void add_readings(Page& page) {
    const auto shown = std::min<std::uint64_t>(shown_sensor_windows, data_.examples().validation);
    if (shown == 0) return;
    const SensorBatch batch =
        in_unit(data_.batch(data_.in_order(Split::validation, 0, std::size_t(shown))));
    Tape tape({.recording = false});
    const Var predicted = model_.predict(tape, view(batch));
    const std::size_t V = data_.table().variates;
    page.section("Readings",
                 "What the first validation windows ask for, in the unit of the training data.");
    std::vector<std::string> charts;
    for (std::size_t v = 0; v < V; ++v) {
      Curve points;
      for (std::size_t i = v; i < batch.asked.size(); i += V) {
        if (batch.asked.data()[i] == 0) continue;
        points.x.push_back(double(batch.targets.data()[i]));
        points.y.push_back(double(predicted.data()[i]));
      }
      Chart chart{.title = data_.table().names[1 + data_.table().dimensions + v],
                  .x = {"truth"},
                  .y = {"prediction"}};
      chart.add("", points, Mark::points);
      charts.push_back(draw(chart));
    }
    page.charts(charts);
  }

  /// (B, T, V) in the unit of the training data, 0 where `known` is.
  void standardize(Tensor& values, const Tensor& known) {
    const Shape shape = values.shape();
    const std::size_t V = shape[2];
    values.reshape({values.size() / V, V});
    model_.standardize().apply(values);
    values.reshape(shape);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (known.data()[i] == 0) values.data()[i] = 0;
  }

  SensorBatch in_unit(SensorBatch batch) {
    standardize(batch.values, batch.seen);
    if (batch.targets.size() > 1) standardize(batch.targets, batch.asked);
    return batch;
  }

  /// In the unit of the data. (B T, V)
  Tensor values_of(const SensorBatch& questions) {
    const SensorBatch batch = in_unit(questions);
    Tape tape({.recording = false});
    Tensor values = model_.predict(tape, view(batch)).value();
    const std::size_t V = data_.table().variates;
    values.reshape({values.size() / V, V});
    model_.standardize().undo(values);
    return values;
  }

  static void fill(SensorTable& table, std::size_t row, const real* values) {
    for (std::size_t v = 0; v < table.variates; ++v) {
      double& value = table.values[row * table.variates + v];
      if (!std::isfinite(value)) value = double(values[v]);
    }
  }

  static NamedArray as_array(const SensorTable& table, const std::vector<std::size_t>& rows,
                             bool dated) {
    const std::size_t d = table.dimensions, V = table.variates;
    NamedArray array;
    array.columns = table.names;
    if (dated) array.time = 0;
    array.values = xt::xarray<double>::from_shape({rows.size(), 1 + d + V});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      array.values(i, 0) = table.times[rows[i]];
      for (std::size_t j = 0; j < d; ++j) array.values(i, 1 + j) = table.places[rows[i] * d + j];
      for (std::size_t v = 0; v < V; ++v)
        array.values(i, 1 + d + v) = table.values[rows[i] * V + v];
    }
    return array;
  }

  SensorColumns columns_;
  SensorWindows data_;
  SensorModel model_;
};

}  // namespace

std::unique_ptr<Task> make_sensor_task(const Config& config) {
  return std::make_unique<SensorTask>(config);
}

std::unique_ptr<Module> stand_in_for_sensors(const Config& config) {
  SensorTable table;
  table.dimensions = sensor_columns(config).places.size();
  return std::make_unique<SensorModel>(sensor_model_spec(config, table));
}

/// Without columns of values, all of the table.
ReadOptions sensor_options(const Config& config) {
  const SensorColumns columns = sensor_columns(config);
  std::vector<std::string> all{columns.time};
  for (const auto* some : {&columns.places, &columns.values})
    all.insert(all.end(), some->begin(), some->end());
  if (columns.values.empty()) all.clear();
  CsvOptions csv = only_columns(config, columns.time, all);
  csv.missing = "nan";
  return {csv, ""};
}

}  // namespace bochner
