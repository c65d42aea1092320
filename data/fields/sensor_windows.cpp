#include <bit>
#include <bochner/base/errors.hpp>
#include <bochner/base/join.hpp>
#include <bochner/base/numeric/quantile.hpp>
#include <bochner/base/text.hpp>
#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/data/files/digest.hpp>
#include <bochner/data/series/moments.hpp>
#include <numeric>
#include <ranges>

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

struct ChosenColumns {
  std::size_t time;
  std::vector<std::size_t> places, values;
};

ChosenColumns chosen_columns(const NamedArray& array, const SensorColumns& wanted) {
  ChosenColumns chosen{};
  const bool dated = array.time && wanted.time == SensorColumns().time;
  chosen.time = dated ? *array.time : require_column(array, wanted.time);
  for (const auto& name : wanted.places) chosen.places.push_back(require_column(array, name));
  for (const auto& name : wanted.values) chosen.values.push_back(require_column(array, name));
  for (std::size_t i = 0; wanted.values.empty() && i < array.values.shape()[1]; ++i)
    if (i != chosen.time && std::ranges::count(chosen.places, i) == 0 &&
        std::ranges::count(array.more_times, i) == 0)
      chosen.values.push_back(i);
  if (chosen.places.empty() || chosen.places.size() > 3)
    throw DataError("a place has one to three coordinates, not ", chosen.places.size(),
                    "; name their columns in data.place_columns");
  if (chosen.values.empty()) throw DataError("there is no column of values next to time and place");
  return chosen;
}

double known_number(const NamedArray& array, std::size_t row, std::size_t column) {
  const double number = array.values(row, column);
  if (!std::isfinite(number))
    throw DataError("row ", row + 1, ": column ", column_name(array, column),
                    ": no time or coordinate may be missing");
  return number;
}

/// Returns a value; NaN or infinite if it is missing.
double value_at(const NamedArray& array, std::size_t row, std::size_t column) {
  const double number = array.values(row, column);
  if (std::isfinite(number) && std::abs(number) > double(std::numeric_limits<float>::max()))
    throw DataError("row ", row + 1, ": column ", column_name(array, column), ": ",
                    format_number(number), " exceeds the range of float32");
  return number;
}

std::vector<double> in_order(const std::vector<double>& numbers, std::size_t width,
                             const std::vector<std::size_t>& order) {
  std::vector<double> sorted;
  for (const std::size_t row : order)
    for (std::size_t i = 0; i < width; ++i) sorted.push_back(numbers[row * width + i]);
  return sorted;
}

SensorTable sorted_by_time(SensorTable table) {
  std::vector<std::size_t> order(table.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return table.times[row]; });
  SensorTable sorted = table;
  sorted.times = in_order(table.times, 1, order);
  sorted.places = in_order(table.places, table.dimensions, order);
  sorted.values = in_order(table.values, table.variates, order);
  for (std::size_t i = 0; i < order.size(); ++i) sorted.rows[i] = table.rows[order[i]];
  return sorted;
}

template <class Number>
void append(std::vector<Number>& to, const std::vector<Number>& from, std::size_t first,
            std::size_t last) {
  to.insert(to.end(), from.begin() + std::ptrdiff_t(first), from.begin() + std::ptrdiff_t(last));
}

void append_rows(SensorTable& to, const SensorTable& from, std::size_t first, std::size_t last) {
  append(to.times, from.times, first, last);
  append(to.places, from.places, first * from.dimensions, last * from.dimensions);
  append(to.values, from.values, first * from.variates, last * from.variates);
  append(to.rows, from.rows, first, last);
}

/// Throws DataError if a learned column is missing from the input; other columns cannot replace it.
void require_called(const NamedArray& array, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!find_column(array.columns, array.columns.size(), name))
      throw DataError("the input has no column ", excerpt(name), "; the model was trained on ",
                      joined(names, ", ", excerpt));
}

/// Throws DataError if the input has columns of values that the model has not learned.
void require_no_others(const NamedArray& array, const SensorColumns& columns) {
  const std::vector<std::size_t> chosen = chosen_columns(array, columns).values;
  SensorColumns with_all = columns;
  with_all.values.clear();
  for (const std::size_t column : chosen_columns(array, with_all).values)
    if (std::ranges::count(chosen, column) == 0)
      throw DataError("the model does not know the column ", excerpt(column_name(array, column)),
                      "; it was trained on ", joined(columns.values, ", ", excerpt));
}

std::string columns_in_words(const SensorTable& table) {
  return joined(table.names | std::views::drop(1), ", ", excerpt);
}

void require_alike(const SensorTable& first, const SensorTable& other) {
  if (other.dimensions != first.dimensions || other.variates != first.variates)
    throw DataError("data.files: one table has ", first.dimensions, " coordinates and ",
                    first.variates, " columns of values, another ", other.dimensions, " and ",
                    other.variates, "; name the columns in data.columns");
  if (!std::ranges::equal(first.names | std::views::drop(1), other.names | std::views::drop(1)))
    throw DataError("data.files: one table has the columns ", columns_in_words(first), ", another ",
                    columns_in_words(other), "; name the same ones in data.columns");
}

}  // namespace

SensorTable SensorTable::part(std::size_t first, std::size_t last) const {
  SensorTable some{dimensions, variates, {}, {}, {}, {}, names};
  append_rows(some, *this, first, last);
  return some;
}

std::vector<std::string> SensorTable::value_names() const {
  std::vector<std::string> values(names.end() - std::ptrdiff_t(variates), names.end());
  if (std::ranges::any_of(values, [](const auto& name) { return bool(parse_count(name)); }))
    values.clear();
  return values;
}

SensorTable sensor_table(const NamedArray& array, const SensorColumns& columns) {
  if (array.values.dimension() != 2 || array.values.shape()[0] == 0)
    throw DataError("readings of sensors need a table with columns of times, places and values");
  const ChosenColumns chosen = chosen_columns(array, columns);
  SensorTable table{chosen.places.size(), chosen.values.size(), {}, {}, {}, {}, {}};
  for (std::size_t row = 0; row < array.values.shape()[0]; ++row) {
    table.times.push_back(known_number(array, row, chosen.time));
    for (const std::size_t i : chosen.places) table.places.push_back(known_number(array, row, i));
    for (const std::size_t i : chosen.values) table.values.push_back(value_at(array, row, i));
    table.rows.push_back(row);
  }
  table.names.push_back(column_name(array, chosen.time));
  for (const auto* some : {&chosen.places, &chosen.values})
    for (const std::size_t i : *some) table.names.push_back(column_name(array, i));
  return sorted_by_time(std::move(table));
}

SensorColumns columns_named_like(const NamedArray& array, const SensorColumns& columns,
                                 const SensorTable& like) {
  if (array.columns.empty() || array.values.dimension() != 2) return columns;
  const auto place = like.names.begin() + 1, value = place + std::ptrdiff_t(like.dimensions);
  SensorColumns called{columns.time, {place, value}, {value, like.names.end()}};
  if (parse_count(columns.time)) called.time = like.names[0];
  require_called(array, called.places);
  require_called(array, called.values);
  if (columns.values.empty()) require_no_others(array, called);
  return called;
}

SensorTable merged(const std::vector<SensorTable>& tables) {
  SensorTable all = tables.front();
  for (std::size_t i = 1; i < tables.size(); ++i) {
    require_alike(all, tables[i]);
    append_rows(all, tables[i], 0, tables[i].size());
  }
  return sorted_by_time(std::move(all));
}

std::uint64_t fingerprint(const SensorTable& table) {
  std::uint64_t hash = digest_of_elements(table.values, table.variates);
  hash = digest_of_elements(table.times, hash);
  return digest_of_elements(table.places, hash);
}

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
