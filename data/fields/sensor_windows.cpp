#include <algorithm>
#include <bit>
#include <bochner/base/errors.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/data/series/moments.hpp>
#include <cmath>
#include <map>

namespace bochner {
namespace {

using Coordinates = std::vector<double>;

Coordinates place_of(const SensorTable& table, std::size_t row) {
  const auto first = table.places.begin() + std::ptrdiff_t(row * table.dimensions);
  return {first, first + std::ptrdiff_t(table.dimensions)};
}

/// Returns the moments of a variate's known values among the first rows.
Moments moments_of_variate(const SensorTable& table, std::size_t variate, std::size_t rows) {
  const std::string column = "column " + table.names[1 + table.dimensions + variate];
  bool is_there = false;
  const Moments moments = moments_of([&](const auto& action) {
    for (std::size_t row = 0; row < rows; ++row)
      if (const double x = table.values[row * table.variates + variate]; std::isfinite(x))
        is_there = true, action(x);
  });
  if (!is_there) throw DataError(column, ": has no value in the training readings");
  return resolved(moments, column);
}

}  // namespace

std::vector<std::string> sensor_questions() { return {"any", "last", "places"}; }

std::size_t asked_count(const SensorSpec& spec) {
  const auto count = std::size_t(std::llround(spec.asked * double(spec.length)));
  return std::clamp<std::size_t>(count, 1, spec.length - 1);
}

SensorWindows::SensorWindows(SensorTable table, const SensorSpec& spec)
    : table_(std::move(table)), spec_(spec) {
  require(spec.length >= 2 && spec.asked > 0 && spec.asked < 1, "sensors",
          "needs data.length of 2 or more and data.asked between 0 and 1, not ", spec.length,
          " and ", spec.asked);
  const std::size_t T = spec.length, held = held_out(table_.size(), spec.validation);
  train_rows_ = table_.size() - held;
  if (train_rows_ < T || (held > 0 && held < T))
    throw DataError("data.length = ", T, ": longer than the ", train_rows_,
                    " readings to train or the ", held,
                    " to validate; choose a smaller data.length or another data.validation");
  examples_ = {spec.seed, train_rows_ - T + 1, held / T};
  require_questions(Split::train);
  require_questions(Split::validation);
}

/// Throws DataError if no window of a split asks for a known value in the first epoch.
void SensorWindows::require_questions(Split split) const {
  const std::uint64_t count = examples(split);
  for (std::uint64_t index = 0; index < count; ++index)
    if (asks(split, index)) return;
  if (count == 0) return;
  throw DataError(
      "the ", name_of(split), " split has no window that asks for a known value",
      spec_.ask == "places" ? ": with data.ask = places it needs two places or more" : "",
      "; choose another data.ask, data.length or data.validation");
}

bool SensorWindows::asks(Split split, std::uint64_t index) const {
  const std::size_t first = first_row(split, index), V = table_.variates;
  const std::vector<bool> asked = questions(first, draws_of(examples_, split, index));
  for (std::size_t i = 0; i < asked.size() * V; ++i)
    if (asked[i / V] && std::isfinite(table_.values[first * V + i])) return true;
  return false;
}

std::vector<bool> SensorWindows::questions(std::size_t first, Draws draws) const {
  const std::size_t T = spec_.length, count = asked_count(spec_);
  std::vector<bool> asked(T, false);
  if (spec_.ask == "last") {
    std::fill(asked.end() - std::ptrdiff_t(count), asked.end(), true);
    return asked;
  }
  std::map<Coordinates, std::vector<std::size_t>> groups;  // one reading each, or one place
  for (std::size_t t = 0; t < T; ++t)
    groups[spec_.ask == "places" ? place_of(table_, first + t) : Coordinates{double(t)}].push_back(
        t);
  std::vector<const std::vector<std::size_t>*> parts;
  for (const auto& [key, readings] : groups) parts.push_back(&readings);
  std::size_t chosen = 0;
  std::vector<std::size_t> order = draws.shuffled(parts.size());
  order.pop_back();  // at least one part stays visible
  for (const std::size_t part : order) {
    if (chosen >= count) break;
    for (const std::size_t t : *parts[part]) asked[t] = true;
    chosen += parts[part]->size();
  }
  return asked;
}

void SensorWindows::copy_window(Split split, const Examples::Number& number, SensorBatch& batch,
                                std::size_t b) const {
  const std::size_t T = spec_.length, V = table_.variates, d = table_.dimensions;
  const std::size_t first = first_row(split, number.index);
  const std::uint64_t epochs_before = split == Split::train ? number.epoch * examples_.train : 0;
  const std::vector<bool> asked =
      questions(first, draws_of(examples_, split, number.index + epochs_before));
  for (std::size_t t = 0; t < T; ++t) {
    batch.times[b * T + t] = table_.times[first + t] - table_.times[first];
    std::copy_n(table_.places.begin() + std::ptrdiff_t((first + t) * d), d,
                batch.places.begin() + std::ptrdiff_t((b * T + t) * d));
    for (std::size_t v = 0; v < V; ++v) {
      const double value = table_.values[(first + t) * V + v];
      if (!std::isfinite(value)) continue;
      const std::size_t i = (b * T + t) * V + v;
      (asked[t] ? batch.targets : batch.values).data()[i] = real(value);
      (asked[t] ? batch.asked : batch.seen).data()[i] = 1;
    }
  }
}

SensorBatch SensorWindows::batch(const Examples& examples) const {
  const std::size_t B = examples.size(), T = spec_.length;
  const Tensor none = zeros({B, T, table_.variates});
  SensorBatch batch{none, none, none, none, {}, {}};
  batch.places.resize(B * T * table_.dimensions);
  batch.times.resize(B * T);
  for (std::size_t b = 0; b < B; ++b) copy_window(examples.split, examples.numbers[b], batch, b);
  return batch;
}

SensorScale SensorWindows::scale() const {
  SensorScale scale;
  for (std::size_t v = 0; v < table_.variates; ++v) {
    const auto [mean, deviation] = moments_of_variate(table_, v, train_rows_);
    scale.mean.push_back(mean);
    scale.deviation.push_back(deviation);
  }
  scale.places = bounding_box_of(table_.part(0, train_rows_).places, table_.dimensions);
  std::vector<double> spans;
  for (std::size_t row = 0; row + spec_.length <= train_rows_; ++row)
    spans.push_back(table_.times[row + spec_.length - 1] - table_.times[row]);
  if (const double span = median(std::move(spans)); span > 0) scale.span = span;
  return scale;
}

std::uint64_t SensorWindows::fingerprint() const {
  return examples_.fingerprint(
      "sensors", {bochner::fingerprint(table_), spec_.length, stream_of(spec_.ask.c_str()),
                  std::bit_cast<std::uint64_t>(spec_.asked)});
}

std::string SensorWindows::describe() const {
  std::map<Coordinates, bool> places;
  for (std::size_t row = 0; row < table_.size(); ++row) places[place_of(table_, row)] = true;
  return in_words(format_number_of(places.size(), "place"), " in ", table_.dimensions,
                  " dimensions, ", format_number_of(table_.variates, "variate"), ", ",
                  format_number_of(table_.size(), "reading"));
}

}  // namespace bochner
