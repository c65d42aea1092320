#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/base/text.hpp>
#include <bochner/layers/models/sensor_model.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/encoding_checks.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/fields/field_data.hpp>
#include <bochner/train/tasks/fields/sensor_facts.hpp>
#include <bochner/train/tasks/fields/sensor_questions.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/table_learner.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::size_t drawn_nodes = 12;  // of the encoding, along each axis
constexpr std::size_t questions_at_once = 64;

/// Throws DataError if the config names another number of coordinates than the facts.
SensorModelSpec sensor_model_spec(const Config& config, const SensorFacts& facts) {
  if (const std::size_t named = sensor_columns(config).places.size(); named != facts.dimensions)
    throw DataError("data.place_columns names ", named, " coordinates; the model was trained on ",
                    facts.dimensions);
  auto spec = read_spec<SensorModelSpec>(config, "model");
  spec.variates = facts.variates;
  spec.dimensions = facts.dimensions;
  spec.encoding.space.seed = spec.encoding.time.seed = config.count("train.seed");
  complete(spec.stack, config, facts.length);
  return spec;
}

/// Throws DataError unless the batch holds windows of the sizes of the facts.
void check_specimen(const SensorBatch& batch, const SensorFacts& facts) {
  const Shape shape = batch.values.shape();
  const bool fits = shape.size() == 3 && shape[0] > 0 && shape[1] > 0 && shape[1] <= facts.length &&
                    shape[2] == facts.variates && batch.seen.shape() == shape &&
                    batch.targets.shape() == shape && batch.asked.shape() == shape &&
                    batch.times.size() == shape[0] * shape[1] &&
                    batch.places.size() == batch.times.size() * facts.dimensions;
  if (!fits) throw DataError("facts of sensors hold an example of other sizes");
}

void fill(SensorTable& table, std::size_t row, const real* values) {
  for (std::size_t v = 0; v < table.variates; ++v) {
    double& value = table.values[row * table.variates + v];
    if (!std::isfinite(value)) value = double(values[v]);
  }
}

NamedArray as_array(const SensorTable& table, const std::vector<std::size_t>& rows,
                    const NamedArray& question) {
  const std::size_t d = table.dimensions, V = table.variates;
  NamedArray array;
  array.columns = table.names;
  if (question.time) array.time = 0;
  array.numeric_time = question.numeric_time, array.time_format = question.time_format;
  array.values = xt::xarray<double>::from_shape({rows.size(), 1 + d + V});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    array.values(i, 0) = table.times[rows[i]];
    for (std::size_t j = 0; j < d; ++j) array.values(i, 1 + j) = table.places[rows[i] * d + j];
    for (std::size_t v = 0; v < V; ++v) array.values(i, 1 + d + v) = table.values[rows[i] * V + v];
  }
  return array;
}

/// Returns the input of the model for a batch, valid as long as the batch.
SensorReadings view(const SensorBatch& batch) {
  return {batch.values, batch.seen, batch.places, batch.times};
}

/// Returns the windows of a config, and which of their readings are to be predicted.
SensorSpec sensor_spec(const Config& config) {
  auto spec = read_spec<SensorSpec>(config, "data");
  spec.length = config.count("data.length");
  spec.validation = config.number("data.validation");
  spec.seed = config.count("train.seed");
  return spec;
}

/// Predicts missing values at places and times.
class SensorLearner : public TableLearner<SensorFacts, SensorModelSpec, SensorModel> {
 public:
  SensorLearner(const Config& config, SensorFacts facts)
      : TableLearner(config, std::move(facts), sensor_model_spec),
        columns_(sensor_columns(config)),
        asks_(sensor_spec(config)) {
    asks_.length = facts_.length;
    asks_.ask = facts_.ask;
    asks_.asked = facts_.asked;
  }

  std::string describe() const override {
    return fmt::format("field, {}, encoding {}{}", describe_stack(spec_.stack), spec_.encoding.kind,
                       spec_.every_block ? " in every block" : "");
  }
  std::string loss_unit() const override { return "mse"; }
  Json sizes() const override { return Json{{"length", facts_.length}}; }

  void illustrate(Page& page) override {
    add_encoding(page, model_, even_grid(facts_.dimensions, drawn_nodes));
  }

  /// Returns the rows with a missing value, filled in; see questions_of(). Takes rows of time,
  /// place and values.
  NamedArray predict(const NamedArray& question) override {
    const SensorTable table =
        sensor_table(question, columns_named_like(question, columns_, facts_.table()));
    if (table.variates != facts_.variates)
      throw DataError("the input has ", table.variates, " columns of values; the model needs ",
                      facts_.variates);
    SensorTable filled = table;
    std::vector<std::size_t> rows;
    const std::vector<SensorQuestion> questions = questions_of(table, asks_);
    for (std::span<const SensorQuestion> left(questions); !left.empty();) {
      const auto now = left.first(alike(left, questions_at_once));
      left = left.subspan(now.size());
      const Tensor values = values_of(batch_of(table, now));
      const std::size_t T = now[0].rows.size();
      for (std::size_t i = 0; i < now.size() * T; ++i)
        if (const SensorQuestion& one = now[i / T]; one.asked[i % T]) {
          fill(filled, one.rows[i % T], values.data() + i * table.variates);
          rows.push_back(one.rows[i % T]);
        }
    }
    std::ranges::sort(rows, {}, [&](std::size_t row) { return table.rows[row]; });
    return as_array(filled, rows, question);
  }

  void forward_specimen(Tape& tape, std::size_t i) override {
    const SensorBatch one = in_unit(facts_.specimens[i]);
    model_.loss(tape, view(one), one.targets, one.asked);
  }

  PlacedExample placed_specimen(std::size_t i) override {
    const SensorBatch& one = facts_.specimens[i];
    PlacedExample example{
        {model_.scale().scaled(one.places), model_.scale().scaled_times(one.times)}, {}};
    const std::size_t V = facts_.variates;
    for (std::size_t t = 0; t < one.times.size(); ++t) {
      const real* asked = one.asked.data() + t * V;
      if (std::count(asked, asked + V, real(0)) < std::ptrdiff_t(V)) example.asked.push_back(t);
    }
    return example;
  }

  /// Converts a batch to the unit of the model.
  SensorBatch in_unit(SensorBatch batch) {
    standardize(batch.values, batch.seen);
    if (batch.targets.size() > 1) standardize(batch.targets, batch.asked);
    return batch;
  }

 private:
  /// Converts (B, T, V) to the unit of the training data, and sets it to 0 where `known` is 0.
  void standardize(Tensor& values, const Tensor& known) {
    const Shape shape = values.shape();
    const std::size_t V = shape[2];
    values.reshape({values.size() / V, V});
    model_.standardize().apply(values);
    values.reshape(shape);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (known.data()[i] == 0) values.data()[i] = 0;
  }

  /// Predicts in the unit of the data. (B T, V)
  Tensor values_of(const SensorBatch& questions) {
    const SensorBatch batch = in_unit(questions);
    Tape tape({.recording = false});
    Tensor values = model_.predict(tape, view(batch)).value();
    const std::size_t V = facts_.variates;
    values.reshape({values.size() / V, V});
    model_.standardize().undo(values);
    return values;
  }

  SensorColumns columns_;
  SensorSpec asks_;
};

constexpr std::uint64_t shown_sensor_windows = 16;

/// Reads the columns of the config, or the known ones if it names none with values.
SensorTable read_sensors(const Config& config, const KnownFacts& known) {
  SensorColumns columns = sensor_columns(config);
  const auto learned = known.of<SensorFacts>();
  if (columns.values.empty() && !learned.names.empty())
    columns.values = learned.table().value_names();
  std::vector<SensorTable> tables;
  for_each_table(config, [&](const std::filesystem::path&, const NamedArray& table) {
    tables.push_back(sensor_table(table, columns));
  });
  return merged(tables);
}

/// Returns the facts of the data, or the known ones. Throws DataError for another number of
/// variates.
SensorFacts facts_of(const SensorWindows& data, const KnownFacts& known) {
  const SensorTable& table = data.table();
  if (!known.are_exact())
    return {.dimensions = table.dimensions,
            .variates = table.variates,
            .length = data.spec().length,
            .ask = data.spec().ask,
            .asked = data.spec().asked,
            .names = table.names,
            .specimens = take_specimens(data, data.spec().length * table.variates)};
  SensorFacts facts = known.of<SensorFacts>();
  if (table.variates != facts.variates)
    throw DataError("data.files: ", table.variates, " columns of values; the model was trained on ",
                    facts.variates);
  return facts;
}

/// Trains a model that predicts hidden values of sensors at places and times.
class SensorTask : public Task, public HasUnits {
 public:
  SensorTask(const Config& config, const KnownFacts& known)
      : data_(read_sensors(config, known), sensor_spec(config)),
        learner_(config, facts_of(data_, known)) {
    const SensorScale scale = data_.scale();
    sensor_model().standardize().set(scale.mean, scale.deviation);
    sensor_model().scale().set(scale.places.origin, scale.places.extent, scale.span);
  }

  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return data_; }
  TaskAbilities abilities() override { return {.units = this}; }
  std::vector<std::string> shifted_columns() override {
    const Standardize& unit = sensor_model().standardize();
    const std::vector<std::string>& names = data_.table().names;
    const SensorScale here = data_.scale();
    return find_shifted({names.end() - std::ptrdiff_t(data_.table().variates), names.end()},
                        {unit.means(), unit.deviations()}, {here.mean, here.deviation});
  }

  Var loss(Tape& tape, const Examples& examples) override {
    const SensorBatch batch = learner_.in_unit(data_.batch(examples));
    return sensor_model().loss(tape, view(batch), batch.targets, batch.asked);
  }

  Evaluation evaluate(Tape& tape, const Examples& examples) override {
    const SensorBatch batch = learner_.in_unit(data_.batch(examples));
    const Var predicted = sensor_model().predict(tape, view(batch));
    Evaluation result{0, 0, "mse", {{"mean_seen", "mse of the mean of seen values"}}};
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
    const SensorBatch batch = learner_.in_unit(data_.batch(examples));
    const std::size_t B = batch.values.shape()[0], T = batch.values.shape()[1];
    Tape tape({.recording = false});
    return {{"values", array_of(batch.values)},
            {"seen", array_of(batch.seen)},
            {"places", array_of(batch.places, {B, T, data_.table().dimensions})},
            {"times", array_of(batch.times, {B, T})},
            {"targets", array_of(batch.targets)},
            {"asked", array_of(batch.asked)},
            {"outputs", array_of(sensor_model().predict(tape, view(batch)).value())}};
  }

  /// Draws truth and prediction of the hidden readings of the first validation windows.
  void illustrate(Page& page) override {
    const auto shown = std::min<std::uint64_t>(shown_sensor_windows, data_.examples().validation);
    if (shown == 0) return;
    const SensorBatch batch =
        learner_.in_unit(data_.batch(data_.in_order(Split::validation, 0, std::size_t(shown))));
    Tape tape({.recording = false});
    const Var predicted = sensor_model().predict(tape, view(batch));
    const std::size_t V = data_.table().variates;
    page.section(
        "Readings",
        "Hidden readings of the first validation windows, in the unit of the training data.");
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

 private:
  SensorModel& sensor_model() { return learner_.model(); }

  SensorWindows data_;
  SensorLearner learner_;
};

/// Returns facts for a model without data.
SensorFacts assumed_sensor_facts(const Config& config) {
  return {.dimensions = sensor_columns(config).places.size(),
          .length = config.count("data.length"),
          .ask = config.text("data.ask"),
          .asked = config.number("data.asked")};
}

void check_sensors(const Config& config) {
  const std::size_t dimensions = config.text_list("data.place_columns").size();
  if (dimensions < 1 || dimensions > 3)
    fail(config, "data.place_columns", "must name one to three columns of coordinates",
         "data.kind");
  if (config.integer("data.length") < 2) fail(config, "data.length", "must be at least 2");
  check_encoding(config, std::int64_t(dimensions));
  check_no_order(config);
}

/// Returns how to read the table: all of its columns if none with values are named.
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

}  // namespace

void SensorFacts::check() const {
  require_size("coordinates of a place", dimensions, 3);
  require_size("variates of sensors", variates, 1 << 16);
  require_size("readings of a window", length, 1 << 24);
  if (const auto known = sensor_questions(); std::ranges::find(known, ask) == known.end())
    throw DataError("facts of sensors ask for ", excerpt(ask));
  if (!(asked > 0 && asked < 1)) throw DataError("facts of sensors ask for a fraction of ", asked);
  if (names.size() != 1 + dimensions + variates)
    throw DataError("facts of sensors name ", names.size(), " columns of ",
                    1 + dimensions + variates);
  for (const SensorBatch& batch : specimens) check_specimen(batch, *this);
}

void add_sensor_kinds(TaskKinds& kinds) {
  const ModelRows add{kinds, "field", open_as<SensorTask>,
                      learn_as<SensorLearner, assumed_sensor_facts>};
  add("sensors", validation_fraction, check_sensors, sensor_options);
}

}  // namespace bochner
