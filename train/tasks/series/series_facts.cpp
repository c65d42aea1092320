#include <algorithm>
#include <bochner/train/tasks/series/series_facts.hpp>
#include <cmath>

namespace bochner {
namespace {

constexpr std::uint64_t most_rows = 1 << 20, most_values = 1 << 30;

void require_fact(bool is_so, const char* what) {
  if (!is_so) throw DataError("facts of series are damaged: ", what);
}

template <class Array>
bool has_shape(const Array& array, std::initializer_list<std::uint64_t> shape) {
  return std::ranges::equal(array.shape(), shape);
}

void check_specimen(const SeriesFacts& facts, const SeriesBatch& one) {
  const std::uint64_t V = facts.variates, L = facts.lookback, H = facts.horizon, C = facts.channels;
  require_fact(has_shape(one.past, {1, V, L}) && has_shape(one.future, {1, V, H}) &&
                   has_shape(one.times, {1, L + H}) &&
                   (C == 0 || has_shape(one.covariates, {1, C, L + H})),
               "a specimen has the wrong shape");
  require_fact(one.series.size() == 1 && one.series[0] < facts.ids.size(),
               "a specimen belongs to an unknown series");
}

void check_steps(const SeriesFacts& facts) {
  const bool timed = !facts.step_of.empty();
  require_fact(timed ? facts.step_of.size() == facts.ids.size() : facts.crosses_pauses == 0,
               "the number of time steps");
  require_fact(
      std::ranges::all_of(facts.step_of, [&](std::uint64_t i) { return i < facts.steps.size(); }) &&
          std::ranges::all_of(facts.steps, &TimeStep::is_valid),
      "a time step");
}

}  // namespace

void SeriesFacts::check() const {
  require_size("variates", variates, most_rows);
  require_size("covariates", channels + 1, most_rows);
  require_size("rows of a window", lookback, most_rows);
  require_size("rows after a window", horizon, most_rows);
  require_size("training windows", examples, std::uint64_t(1) << 32);
  require_size("series", ids.size(), most_rows);
  require_size("weights of a window", lookback * horizon, most_values);
  require_size("units of series", variates * ids.size(), most_values);
  require_fact(columns.empty() || columns.size() == variates, "the number of columns");
  const auto is_id = [&](const std::vector<std::string>& id) { return id.size() == series.size(); };
  require_fact(std::ranges::all_of(ids, is_id) && (!series.empty() || ids.size() == 1),
               "ids of series do not match their columns");
  check_steps(*this);
  for (const SeriesBatch& one : specimens) check_specimen(*this, one);
}

std::optional<std::size_t> SeriesFacts::number_of(const std::vector<std::string>& id) const {
  const auto found = std::ranges::find(ids, id);
  if (found == ids.end()) return std::nullopt;
  return std::size_t(found - ids.begin());
}

const TimeStep* SeriesFacts::step(std::size_t number) const {
  return step_of.empty() ? nullptr : &steps[step_of[number]];
}

std::vector<std::string> SeriesFacts::names() const {
  std::vector<std::string> names;
  for (const std::vector<std::string>& id : ids)
    if (!id.empty()) names.push_back(words_of(id));
  return names;
}

}  // namespace bochner
