#include <fmt/format.h>

#include <bochner/train/storage/json.hpp>
#include <bochner/train/tasks/encoding_pictures.hpp>
#include <bochner/train/tasks/events/event_learner.hpp>
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {
namespace {

/// Throws DataError if the config names another number of coordinates than the facts.
EventModelSpec event_model_spec(const Config& config, const EventFacts& facts) {
  if (const std::size_t named = assumed_event_facts(config).dimensions; named != facts.dimensions)
    throw DataError("data.place_columns names ", named, " coordinates; the model was trained on ",
                    facts.dimensions);
  auto spec = read_spec<EventModelSpec>(config, "model");
  spec.types = facts.types;
  spec.dimensions = facts.dimensions;
  spec.encoding.space.seed = spec.encoding.time.seed = config.count("train.seed");
  spec.length = facts.length;
  complete(spec.time.density, config);
  complete(spec.stack, config, spec.length);
  return spec;
}

/// Writes median, mean and probabilities for each event. values: (rows, 2 + K)
void write_forecasts(EventModel& model, const EventTable& events, xt::xarray<double>& values) {
  const EventForecast forecast = forecast_events(model, events.types, events.times, events.places);
  for (std::size_t i = 0; i < events.rows.size(); ++i) {
    const std::size_t row = events.rows[i];
    values(row, 0) = forecast.median(0, i);
    values(row, 1) = forecast.mean(0, i);
    for (std::size_t k = 0; k < model.spec().types; ++k)
      values(row, 2 + k) = double(forecast.probabilities(0, i, k));
  }
}

}  // namespace

EventSequences view(const EventBatch& batch) {
  return {batch.types, batch.next_types, batch.times, batch.next_times, batch.places};
}

EventLearner::EventLearner(const Config& config, EventFacts facts)
    : facts_(std::move(facts)),
      reading_(table_options(config)),
      columns_(event_columns(config)),
      model_(event_model_spec(config, facts_)) {
  initialize(model_, config.count("train.seed"));
}

std::string EventLearner::describe() const {
  const EventModelSpec& spec = model_.spec();
  const std::string place =
      spec.dimensions == 0 ? "" : fmt::format(", place {}", spec.encoding.kind);
  return fmt::format("events, {}, positions {}, time {}{}", describe_stack(spec.stack),
                     spec.stack.positions, describe_time(spec.time), place);
}

Json EventLearner::sizes() const { return Json{{"length", facts_.length}}; }

NamedArray EventLearner::predict(const NamedArray& question) {
  const std::vector<EventTable> windows = windows_of_table(question, columns_, facts_);
  NamedArray result;
  result.columns = {"next_time_median", "next_time_mean"};
  for (std::string& name : type_columns(facts_)) result.columns.push_back(std::move(name));
  if (question.time) result.more_times = {0, 1};  // dates, like the input
  result.values = xt::xarray<double>(
      std::vector<std::size_t>{question.values.shape()[0], result.columns.size()});
  for (const EventTable& events : windows) write_forecasts(model_, events, result.values);
  return result;
}

void EventLearner::illustrate(Page& page) {
  constexpr std::size_t nodes = 12;  // along each axis
  if (facts_.dimensions > 0) add_encoding(page, model_, even_grid(facts_.dimensions, nodes));
}

void EventLearner::forward_specimen(Tape& tape, std::size_t i) {
  model_.loss(tape, view(facts_.specimens[i]));
}

}  // namespace bochner
