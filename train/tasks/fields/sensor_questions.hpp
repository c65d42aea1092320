#pragma once
/// What a model of sensors is asked for the missing values of a table.

#include <bochner/data/fields/sensor_windows.hpp>
#include <span>

namespace bochner {

/// Rows of a table that the model is shown together, in the order of time, and whether the values
/// of each are asked for.
struct SensorQuestion {
  std::vector<std::size_t> rows;
  std::vector<bool> asked;
};

/// Every row with a missing value is asked once, among as many readings as a window of the training
/// shows: those nearest to it in time, or its latest ones where the last of a window are asked for.
/// Rows that have the same readings are asked together, as many as in training at most. Throws
/// DataError where a row has none.
std::vector<SensorQuestion> questions_of(const SensorTable& table, const SensorSpec& spec);

/// How many of the first questions have as many rows as the first one, at most `count`.
std::size_t alike(std::span<const SensorQuestion> questions, std::size_t count);

/// What of a table is shown to the model, of questions that are alike, in the unit of the data.
SensorBatch batch_of(const SensorTable& table, std::span<const SensorQuestion> questions);

}  // namespace bochner
