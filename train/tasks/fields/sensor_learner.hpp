#pragma once
/// Models of missing values at places and times, with the facts of their sensors.

#include <bochner/data/fields/sensor_windows.hpp>
#include <bochner/layers/models/sensor_model.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/learner.hpp>
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
  std::vector<std::string> names = {};      ///< columns of time, places and values
  std::vector<SensorBatch> specimens = {};  ///< in the unit of the data

  template <class Archive>
  void serialize(Archive& archive) {
    archive(dimensions, variates, length, names, specimens);
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

/// Returns the input of the model for a batch, valid as long as the batch.
inline SensorReadings view(const SensorBatch& batch) {
  return {batch.values, batch.seen, batch.places, batch.times};
}
/// Returns the windows of a config, and which of their readings are to be predicted.
SensorSpec sensor_spec(const Config& config);

class SensorLearner : public Learner, public AnswersTables, public HasSpecimens {
 public:
  SensorLearner(const Config& config, SensorFacts facts);

  Module& model() override { return model_; }
  std::string describe() const override;
  std::string facts() const override { return encode_facts(facts_); }
  std::string loss_unit() const override { return "mse"; }
  Json sizes() const override;
  void illustrate(Page& page) override;
  LearnerAbilities abilities() override { return {.tables = this, .specimens = this}; }

  ReadOptions read_options() const override { return reading_; }
  /// Returns the rows with a missing value, filled in; see questions_of(). Takes rows of time,
  /// place and values.
  NamedArray predict(const NamedArray& question) override;

  std::size_t specimens() const override { return facts_.specimens.size(); }
  void forward_specimen(Tape& tape, std::size_t i) override;

  SensorModel& sensor_model() { return model_; }
  /// Converts a batch to the unit of the model.
  SensorBatch in_unit(SensorBatch batch);

 private:
  Tensor values_of(const SensorBatch& questions);
  void standardize(Tensor& values, const Tensor& known);

  SensorFacts facts_;
  ReadOptions reading_;
  SensorColumns columns_;
  SensorSpec asks_;
  SensorModel model_;
};

}  // namespace bochner
