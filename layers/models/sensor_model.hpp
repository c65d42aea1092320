#pragma once
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/encodings/scales.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct SensorModelSpec {
  std::size_t variates = 1, dimensions = 2;
  SpaceTimeSpec encoding = {};  ///< width and dimensions are set later
  bool every_block = false;
  StackSpec stack = {};  ///< positions are "none"
};
inline void describe(Keys& keys, SensorModelSpec& spec) {
  describe(keys, spec.stack);
  keys.section("encoding", spec.encoding);
  describe_every_block(keys, spec.every_block);
}

/// Sensor readings: values and `seen` (B, T, V), values in units of the training data and 0 where
/// `seen` is 0; places (B, T, d) and times (B, T) in units of the data.
struct SensorReadings {
  const Tensor &values, &seen;
  const std::vector<double>&places, &times;
};

/// Interpolates and forecasts sensors: tokens of values, `seen` flags and an encoding of place and
/// time; blocks with attention in both directions; a linear head.
class SensorModel : public Module {
 public:
  explicit SensorModel(const SensorModelSpec& spec);
  /// Predicts the values of all readings. -> (B, T, V)
  Var predict(Tape& tape, const SensorReadings& readings);
  /// Returns the mean squared error where `mask` is 1; targets are 0 elsewhere. (B, T, V) -> ()
  Var loss(Tape& tape, const SensorReadings& readings, const Tensor& targets, const Tensor& mask);

  Standardize& standardize() { return standardize_; }
  PlaceScale& scale() { return scale_; }
  /// Returns null for "none".
  SpaceTimeEncoding* encoder() { return encoding_.get(); }
  const SensorModelSpec& spec() const { return spec_; }
  void visit(Visitor& visitor) override;

 private:
  SensorModelSpec spec_;
  Standardize standardize_;
  PlaceScale scale_;
  std::unique_ptr<SpaceTimeEncoding> encoding_;
  Linear input_;
  BlockStack stack_;
  Linear head_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
