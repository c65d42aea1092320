#include <algorithm>
#include <bochner/base/errors.hpp>
#include <bochner/train/tasks/fields/sensor_questions.hpp>
#include <cmath>

namespace bochner {
namespace {

/// Readings first, ..., last - 1.
struct Readings {
  std::size_t first, last;
  bool operator==(const Readings&) const = default;
};

/// Returns the `count` readings nearest in time; of two equally near ones the earlier.
Readings nearest_to(double time, const std::vector<double>& times, std::size_t count) {
  const auto place = std::size_t(std::ranges::lower_bound(times, time) - times.begin());
  Readings near{place, place};
  for (std::size_t left = std::min(count, times.size()); left > 0; --left) {
    const bool is_earlier =
        near.last == times.size() ||
        (near.first > 0 && time - times[near.first - 1] <= times[near.last] - time);
    is_earlier ? --near.first : ++near.last;
  }
  return near;
}

Readings latest_until(double time, const std::vector<double>& times, std::size_t count) {
  const auto last = std::size_t(std::ranges::upper_bound(times, time) - times.begin());
  return {last - std::min(last, count), last};
}

/// Returns whether a row has a value (`value` true), or a missing one (false).
bool has(const SensorTable& table, std::size_t row, bool value) {
  const auto first = table.values.begin() + std::ptrdiff_t(row * table.variates);
  return std::any_of(first, first + std::ptrdiff_t(table.variates),
                     [&](double x) { return std::isfinite(x) == value; });
}

/// Merges the seen rows and those asked for; a row that is both is first seen, then asked for.
SensorQuestion question_of(std::span<const std::size_t> seen, std::span<const std::size_t> asked) {
  std::vector<std::pair<std::size_t, bool>> rows;
  for (const std::size_t row : seen) rows.emplace_back(row, false);
  for (const std::size_t row : asked) rows.emplace_back(row, true);
  std::ranges::sort(rows);
  SensorQuestion question;
  for (const auto& [row, is_asked] : rows) {
    question.rows.push_back(row);
    question.asked.push_back(is_asked);
  }
  return question;
}

}  // namespace

std::vector<SensorQuestion> questions_of(const SensorTable& table, const SensorSpec& spec) {
  const std::size_t at_once = asked_count(spec), count = spec.length - at_once;
  std::vector<std::size_t> seen, missing;
  std::vector<double> times;  // of the seen rows
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (has(table, row, false)) missing.push_back(row);
    if (!has(table, row, true)) continue;
    seen.push_back(row);
    times.push_back(table.times[row]);
  }
  const auto readings_of = [&](std::size_t row) {
    return spec.ask == "last" ? latest_until(table.times[row], times, count)
                              : nearest_to(table.times[row], times, count);
  };
  std::vector<SensorQuestion> questions;
  for (std::size_t i = 0, end = 0; i < missing.size(); i = end) {
    const Readings shown = readings_of(missing[i]);
    if (shown.first == shown.last)
      throw DataError("row ", table.rows[missing[i]] + 1,
                      ": no other reading to predict its values from; add some");
    for (end = i + 1; end < std::min(i + at_once, missing.size());) {
      if (readings_of(missing[end]) != shown) break;
      ++end;
    }
    questions.push_back(question_of(std::span(seen).subspan(shown.first, shown.last - shown.first),
                                    std::span(missing).subspan(i, end - i)));
  }
  return questions;
}

std::size_t alike(std::span<const SensorQuestion> questions, std::size_t count) {
  const auto first = questions.first(std::min(count, questions.size()));
  const auto other = std::ranges::find_if(first, [&](const SensorQuestion& question) {
    return question.rows.size() != questions[0].rows.size();
  });
  return std::size_t(other - first.begin());
}

SensorBatch batch_of(const SensorTable& table, std::span<const SensorQuestion> questions) {
  const std::size_t B = questions.size(), T = questions[0].rows.size();
  const std::size_t V = table.variates, d = table.dimensions;
  SensorBatch batch{zeros({B, T, V}), zeros({B, T, V}), {}, {}, {}, {}};
  for (std::size_t i = 0; i < B * T; ++i) {
    const SensorQuestion& question = questions[i / T];
    const std::size_t row = question.rows[i % T];
    batch.times.push_back(table.times[row] - table.times[question.rows[0]]);
    batch.places.insert(batch.places.end(), table.places.begin() + std::ptrdiff_t(row * d),
                        table.places.begin() + std::ptrdiff_t((row + 1) * d));
    for (std::size_t v = 0; v < V; ++v) {
      const double value = table.values[row * V + v];
      if (question.asked[i % T] || !std::isfinite(value)) continue;
      batch.values.data()[i * V + v] = real(value);
      batch.seen.data()[i * V + v] = 1;
    }
  }
  return batch;
}

}  // namespace bochner
