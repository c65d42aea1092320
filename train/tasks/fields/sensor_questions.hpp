#pragma once
#include <bochner/data/fields/sensor_windows.hpp>
#include <span>

namespace bochner {

/// Rows of a table that the model gets together, in the order of time, and whether the values of
/// each are asked for.
struct SensorQuestion {
  std::vector<std::size_t> rows;
  std::vector<bool> asked;
};

/// Asks for each row with a missing value once, with as many readings as a training window: the
/// nearest ones in time, or the latest ones if training asks for the last of a window. Rows with
/// the same readings are asked for together, at most as many as in training. Throws DataError if
/// there are no readings for a row.
std::vector<SensorQuestion> questions_of(const SensorTable& table, const SensorSpec& spec);

/// Counts the leading questions with as many rows as the first one, at most `count`.
std::size_t alike(std::span<const SensorQuestion> questions, std::size_t count);

/// Returns the input of questions with equally many rows, in the unit of the data.
SensorBatch batch_of(const SensorTable& table, std::span<const SensorQuestion> questions);

}  // namespace bochner
