#pragma once
#include <bochner/data/fields.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/field_report.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner::inline BOCHNER_PRECISION {

/// The generated field that a config describes; a size of 0 is that of FieldSpec.
FieldSpec field_spec(const Config& config);

/// The next frame of a field.
class FieldTask : public Task {
 public:
  explicit FieldTask(const Config& config);
  FieldModel& model() override { return model_; }
  const FieldSource& data() const override { return *data_; }
  Var loss(Tape& tape, const Examples& examples) override;
  Evaluation evaluate(Tape& tape, const Examples& examples) override;
  /// The frame after the last: (T, H, W) -> (H, W), or (N, T, H, W) -> (N, H, W).
  NamedArray predict(const NamedArray& input) override;
  std::string loss_unit() const override { return "mse"; }
  void illustrate(Page& page) override;
  std::string describe_model() const override;

 private:
  /// Frames of films as the model takes them.
  FieldBatch standardized(FieldBatch batch);
  /// In the unit of the data. (B, T, H, W) -> (B, H, W)
  Tensor next_frames(Tensor frames);
  /// Of the first validation examples.
  std::vector<FieldPicture> pictures(std::size_t count);
  EncodingPicture encoding_picture();
  bool exact_;  ///< the next frame is the solution, without noise
  std::unique_ptr<FieldSource> data_;
  FieldModel model_;
};

}  // namespace bochner::inline BOCHNER_PRECISION
