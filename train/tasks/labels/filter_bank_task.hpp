#pragma once
/// Learner and task of filter banks; see filter_bank_task.cpp and filter_bank_numbers.cpp.

#include <bochner/layers/models/filter_bank_model.hpp>
#include <bochner/train/tasks/labels/series_data.hpp>
#include <bochner/train/tasks/table_learner.hpp>
#include <bochner/train/tasks/task.hpp>

namespace bochner {

/// Predicts the class or the number of each series.
class FilterBankLearner
    : public TableLearner<LabelledSeriesFacts, FilterBankModelSpec, FilterBankModel> {
 public:
  FilterBankLearner(const Config& config, LabelledSeriesFacts facts);
  std::string describe() const override;
  std::string loss_unit() const override { return spec_.classes > 0 ? "nats" : "variances"; }
  LearnerAbilities abilities() override { return {.tables = this}; }
  void forward_specimen(Tape&, std::size_t) override {}
  /// Returns for each series of a table, in the order of their first rows, the probability of each
  /// class, or the number with the deviation and the quantiles of a normal distribution.
  NamedArray predict(const NamedArray& question) override;

 private:
  RealSeriesColumns columns_;
};

/// Fits a filter bank and its head to series before the first step, trains the filters, if there
/// are steps, and fits the head again.
class FilterBankTask : public Task {
 public:
  FilterBankTask(const Config& config, const KnownFacts& known);
  Learner& learner() override { return learner_; }
  const Dataset& data() const override { return data_; }
  void start() override;
  void fit_closed_form() override;
  Var loss(Tape& tape, const Examples& examples) override;
  NamedArrays arrays(const Examples& examples) override;

 protected:
  FilterBankModel& model() { return learner_.model(); }
  /// Whether held-out examples and not the training series, each left out, are judged.
  bool judges(const HeldOut& held) const {
    return data_.examples(held.split) > 0 && (held.split != Split::train || held.evaluation);
  }
  virtual void fit_head(const LabelledSeriesBatch& batch) = 0;
  virtual Var loss_of(Tape& tape, const LabelledSeriesBatch& batch) = 0;

  LabelledSeries data_;
  FilterBankLearner learner_;

 private:
  bool learns_;
  Tensor fitted_;  // the filters that the head is fitted to
};

/// Opens the task of data.labels = "numbers".
std::unique_ptr<Task> open_filter_bank_of_numbers(const Config& config, const KnownFacts& known);

}  // namespace bochner
