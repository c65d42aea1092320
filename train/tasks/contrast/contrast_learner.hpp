#pragma once
#include <bochner/train/tasks/contrast/contrast_format.hpp>
#include <bochner/train/tasks/learner.hpp>

namespace bochner {

/// Embeds images, sequences of events, and windows of series.
class ContrastLearner : public Learner, public AnswersTables, public HasSpecimens {
 public:
  ContrastLearner(const Config& config, std::unique_ptr<ContrastFormat> format);

  Module& model() override { return model_; }
  std::string describe() const override;
  std::string facts() const override { return format_->facts(); }
  std::vector<std::string> series() const override { return format_->series(); }
  LearnerAbilities abilities() override { return {.tables = this, .specimens = this}; }

  ReadOptions read_options() const override { return format_->read_options(); }
  std::vector<std::string> input_columns() const override { return format_->columns(); }
  /// Returns an embedding for each image, for each sequence of events in the order of their first
  /// rows, or for each window of a series, after a column with its last row.
  NamedArray predict(const NamedArray& question) override;

  std::size_t specimens() const override { return format_->specimens(); }
  void forward_specimen(Tape& tape, std::size_t i) override;

  ContrastModel& contrast_model() { return model_; }
  const ContrastFormat& format() const { return *format_; }
  /// Returns the dimension of embeddings.
  std::size_t width() const { return model_.spec().encoder.trunk.block.width; }

 private:
  std::unique_ptr<ContrastFormat> format_;
  ContrastModel model_;
  std::size_t batch_;
};

}  // namespace bochner
