#include <fmt/format.h>

#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/fields/sensor_learner.hpp>
#include <bochner/train/tasks/fields/sensor_questions.hpp>
#include <bochner/train/tasks/model_spec.hpp>
#include <bochner/train/tasks/task_kinds.hpp>
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

NamedArray as_array(const SensorTable& table, const std::vector<std::size_t>& rows, bool dated) {
  const std::size_t d = table.dimensions, V = table.variates;
  NamedArray array;
  array.columns = table.names;
  if (dated) array.time = 0;
  array.values = xt::xarray<double>::from_shape({rows.size(), 1 + d + V});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    array.values(i, 0) = table.times[rows[i]];
    for (std::size_t j = 0; j < d; ++j) array.values(i, 1 + j) = table.places[rows[i] * d + j];
    for (std::size_t v = 0; v < V; ++v) array.values(i, 1 + d + v) = table.values[rows[i] * V + v];
  }
  return array;
}

}  // namespace

void SensorFacts::check() const {
  require_size("coordinates of a place", dimensions, 3);
  require_size("variates of sensors", variates, 1 << 16);
  require_size("readings of a window", length, 1 << 24);
  if (names.size() != 1 + dimensions + variates)
    throw DataError("facts of sensors name ", names.size(), " columns of ",
                    1 + dimensions + variates);
  for (const SensorBatch& batch : specimens) check_specimen(batch, *this);
}

SensorSpec sensor_spec(const Config& config) {
  auto spec = read_spec<SensorSpec>(config, "data");
  spec.length = config.count("data.length");
  spec.validation = config.number("data.validation");
  spec.seed = config.count("train.seed");
  return spec;
}

SensorLearner::SensorLearner(const Config& config, SensorFacts facts)
    : facts_(std::move(facts)),
      reading_(table_options(config)),
      columns_(sensor_columns(config)),
      asks_(sensor_spec(config)),
      model_(sensor_model_spec(config, facts_)) {
  asks_.length = facts_.length;
  initialize(model_, config.count("train.seed"));
}

std::string SensorLearner::describe() const {
  const SensorModelSpec& spec = model_.spec();
  return fmt::format("field, {}, encoding {}{}", describe_stack(spec.stack), spec.encoding.kind,
                     spec.every_block ? " in every block" : "");
}

Json SensorLearner::sizes() const { return Json{{"length", facts_.length}}; }

void SensorLearner::illustrate(Page& page) {
  add_encoding(page, model_, even_grid(facts_.dimensions, drawn_nodes));
}

NamedArray SensorLearner::predict(const NamedArray& question) {
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
  return as_array(filled, rows, question.time.has_value());
}

void SensorLearner::forward_specimen(Tape& tape, std::size_t i) {
  const SensorBatch one = in_unit(facts_.specimens[i]);
  model_.loss(tape, view(one), one.targets, one.asked);
}

/// Converts (B, T, V) to the unit of the training data, and sets it to 0 where `known` is 0.
void SensorLearner::standardize(Tensor& values, const Tensor& known) {
  const Shape shape = values.shape();
  const std::size_t V = shape[2];
  values.reshape({values.size() / V, V});
  model_.standardize().apply(values);
  values.reshape(shape);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (known.data()[i] == 0) values.data()[i] = 0;
}

SensorBatch SensorLearner::in_unit(SensorBatch batch) {
  standardize(batch.values, batch.seen);
  if (batch.targets.size() > 1) standardize(batch.targets, batch.asked);
  return batch;
}

/// Predicts in the unit of the data. (B T, V)
Tensor SensorLearner::values_of(const SensorBatch& questions) {
  const SensorBatch batch = in_unit(questions);
  Tape tape({.recording = false});
  Tensor values = model_.predict(tape, view(batch)).value();
  const std::size_t V = facts_.variates;
  values.reshape({values.size() / V, V});
  model_.standardize().undo(values);
  return values;
}

}  // namespace bochner
