#pragma once
#include <bochner/layers/basic/position_wise.hpp>
#include <bochner/layers/basic/standardization.hpp>
#include <bochner/layers/encodings/place_scale.hpp>
#include <bochner/layers/encodings/space_time.hpp>
#include <bochner/layers/models/block.hpp>

namespace bochner::inline BOCHNER_PRECISION {

struct SensorModelSpec {
  std::size_t variates = 1, dimensions = 2;
  SpaceTimeSpec encoding = {};  ///< its width and its dimensions are filled in
  bool every_block = false;
  StackSpec stack = {};  ///< its positions are "none"
};
inline void describe(Keys& keys, SensorModelSpec& spec) {
  describe(keys, spec.stack);
  keys.section("encoding", spec.encoding);
  describe_every_block(keys, spec.every_block);
}

/// Values where they are seen, and where and when. Values and `seen` (B, T, V) in the unit of the
/// training data, 0 where `seen` is; places (B, T, d) and times (B, T) in that of the data.
struct SensorReadings {
  const Tensor &values, &seen;
  const std::vector<double>&places, &times;
};

/// Every reading is a token of its values, of which of them are seen, and of an encoding of place
/// and time; blocks with attention in both directions; a linear head that reads the values. What is
/// not seen is so interpolated, or forecast.
class SensorModel : public Module {
 public:
  explicit SensorModel(const SensorModelSpec& spec);
  /// Values of all readings. -> (B, T, V)
  Var predict(Tape& tape, const SensorReadings& readings);
  /// Mean squared error over what is asked for; targets are 0 elsewhere. targets, asked (B, T, V)
  /// ->
  /// ()
  Var loss(Tape& tape, const SensorReadings& readings, const Tensor& targets, const Tensor& asked);

  Standardize& standardize() { return standardize_; }
  PlaceScale& scale() { return scale_; }
  /// Null for "none".
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
