#pragma once
#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/serialize.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, SensorBatch& batch) {
  for (Tensor* tensor : {&batch.values, &batch.seen, &batch.targets, &batch.asked})
    serialize_array(archive, *tensor);
  archive(batch.places, batch.times);
}

struct SensorFacts {
  static constexpr const char* kind = "sensors";
  std::uint64_t dimensions = 1, variates = 1;
  std::uint64_t length = 256;               ///< readings of a window
  std::string ask = SensorSpec().ask;       ///< which of them training asks for,
  double asked = SensorSpec().asked;        ///< and which fraction
  std::vector<std::string> names = {};      ///< columns of time, places and values
  std::vector<SensorBatch> specimens = {};  ///< in the unit of the data

  template <class Archive>
  void serialize(Archive& archive) {
    archive(dimensions, variates, length, ask, asked, names, specimens);
  }
  void check() const;
  /// Returns a table without rows.
  SensorTable table() const {
    SensorTable table;
    table.dimensions = dimensions;
    table.variates = variates;
    table.names = names;
    return table;
  }
};

}  // namespace bochner
