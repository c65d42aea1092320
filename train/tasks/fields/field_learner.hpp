#pragma once
#include <bochner/data/fields/fields.hpp>
#include <bochner/layers/models/field_model.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <bochner/train/tasks/serialize.hpp>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, FieldBatch& batch) {
  serialize_array(archive, batch.frames);
  serialize_array(archive, batch.next);
}

struct FieldFacts {
  static constexpr const char* kind = "fields";
  std::uint64_t frames = 8;                ///< input frames (T)
  std::vector<std::uint64_t> sides = {};   ///< pixels along each axis, the slowest first
  std::vector<FieldBatch> specimens = {};  ///< in the unit of the data

  template <class Archive>
  void serialize(Archive& archive) {
    archive(frames, sides, specimens);
  }
  void check() const;
  FieldSize size() const { return {frames, {sides.begin(), sides.end()}}; }
};

/// Predicts the next frame of a field.
class FieldLearner : public Learner, public AnswersTables, public HasSpecimens {
 public:
  FieldLearner(const Config& config, FieldFacts facts);

  Module& model() override { return model_; }
  std::string describe() const override;
  std::string facts() const override { return encode_facts(facts_); }
  std::string loss_unit() const override { return "mse"; }
  Json sizes() const override;
  void illustrate(Page& page) override;
  LearnerAbilities abilities() override { return {.tables = this, .specimens = this}; }

  ReadOptions read_options() const override { return reading_; }
  /// Returns the next frame: (T, H, W) -> (H, W), or (N, T, H, W) -> (N, H, W); other numbers of
  /// dimensions likewise.
  NamedArray predict(const NamedArray& question) override;

  std::size_t specimens() const override { return facts_.specimens.size(); }
  void forward_specimen(Tape& tape, std::size_t i) override;

  FieldModel& field_model() { return model_; }
  /// Converts a batch to the unit of the model.
  FieldBatch in_unit(FieldBatch batch);
  /// Predicts in the unit of the data. (B, T, H, W) -> (B, H, W)
  Tensor next_frames(Tensor frames);

 private:
  void change_unit(Tensor& x, void (Standardize::*change)(Tensor&) const);

  FieldFacts facts_;
  ReadOptions reading_;
  FieldModel model_;
};

}  // namespace bochner
