#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/train/charts/chart.hpp>
#include <bochner/train/charts/page.hpp>
#include <bochner/train/tasks/arrays.hpp>
#include <bochner/train/tasks/data_tables.hpp>
#include <bochner/train/tasks/distribution_shift.hpp>
#include <bochner/train/tasks/fields/field_kinds.hpp>
#include <bochner/train/tasks/fields/sensor_learner.hpp>
#include <bochner/train/tasks/specimens.hpp>
#include <bochner/train/tasks/task.hpp>
#include <cmath>

namespace bochner {
namespace {

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
  SensorModel& sensor_model() { return learner_.sensor_model(); }

  SensorWindows data_;
  SensorLearner learner_;
};

}  // namespace

std::unique_ptr<Task> open_sensor_task(const Config& config, const KnownFacts& known) {
  return std::make_unique<SensorTask>(config, known);
}

}  // namespace bochner
