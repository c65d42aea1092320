#pragma once
#include <bochner/data/event_files.hpp>
#include <bochner/data/event_sequences.hpp>
#include <bochner/layers/models/event_model.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The encoding of time that a config describes.
TimeEncodingSpec time_encoding_spec(const Config& config);
HawkesSpec hawkes_spec(const Config& config);

/// Next events, of a simulated process judged beside what the process itself knows.
class EventTask : public Task {
 public:
  explicit EventTask(const Config& config);
  Module& model() override { return model_; }
  const Dataset& data() const override { return *data_; }
  Var loss(Tape& tape, const Examples& examples) override;
  Evaluation evaluate(Tape& tape, const Examples& examples) override;
  /// Rows of time and type, columns as in the training data -> what is expected after each:
  /// median and mean of the next time, and the probability of each type. Sequences are cut into
  /// windows of data.length events, as in training.
  NamedArray predict(const NamedArray& input) override;
  void illustrate(Page& page) override;
  std::string loss_unit() const override { return "nats/event"; }
  std::string describe_model() const override;

 private:
  std::unique_ptr<EventSource> data_;
  EventColumns columns_;
  EventModelSpec spec_;
  EventModel model_;
};

/// (B, T, points, K) at the middles of equal parts of every gap, in 1 / time of the data.
Times learned_intensity(const EventModel& model, const Var& weights, const EventBatch& batch,
                        std::size_t points);

/// Mean over time of |lambda - truth|, summed over types, over the mean of the truth: sums of both
/// over `points` middles of equal parts of every gap, weighted by their lengths.
struct IntensityError {
  double difference = 0, truth = 0;
};
IntensityError intensity_error(const EventModel& model, const Var& weights, const EventBatch& batch,
                               const Times& truth);

}  // namespace bochner::inline BOCHNER_PRECISION
