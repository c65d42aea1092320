#pragma once
#include <bochner/layers/estimators/table_ensemble.hpp>
#include <bochner/train/tasks/conformal/calibration.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <bochner/train/tasks/tables/mixed_facts.hpp>

namespace bochner {

class Config;

/// Answers rows of a table by a TableEnsemble: a number with its bands, or a class with the
/// probabilities of all.
class TableEnsembleLearner : public Learner, public AnswersTables, public UsesCalibration {
 public:
  TableEnsembleLearner(const Config& config, MixedFacts facts);

  TableEnsemble& model() override { return model_; }
  std::string describe() const override;
  std::string facts() const override;
  std::string loss_unit() const override { return has_classes() ? "nats" : "mse"; }
  LearnerAbilities abilities() override { return {.tables = this, .calibrated = this}; }

  ReadOptions read_options() const override { return reading_; }
  std::vector<std::string> input_columns() const override;
  /// Returns the inputs, then the number and its bands of 95 and 80 %, or the class and the
  /// probability of each. After cover(): one band of its level, or sets of classes.
  NamedArray predict(const NamedArray& question) override;
  std::vector<std::string> notes() const override { return notes_; }
  bool has_held_out() const override { return true; }
  void set_calibration(Calibration) override {}
  void cover(double level) override { level_ = level; }

  bool has_classes() const { return table_.target.has_categories(); }
  /// Returns the rows that the ensemble is fitted to, as they are.
  const MixedTable& table() const { return table_; }
  /// Returns the units of the encoded inputs, then of the target.
  const std::vector<ColumnUnit>& units() const { return units_; }
  const ColumnUnit& unit() const { return units_.back(); }
  /// Returns the rows that the ensemble is fitted to.
  const AnsweredRows& seen() const { return seen_; }
  /// Returns estimates of standardized inputs: numbers in their unit, or probabilities.
  RowEstimates estimate(const Columns& inputs) const;

 private:
  AnsweredRows answered() const;
  Columns standardized(Columns inputs) const;
  /// Returns ends of names and widths of the bands of numbers, in those of 80 %.
  std::vector<std::pair<std::string, double>> bands() const;
  NamedArray with_sets(const NamedArray& answer) const;

  MixedTable table_;
  std::vector<ColumnUnit> units_;
  ReadOptions reading_;
  AnsweredRows seen_;
  TableEnsemble model_;
  double level_ = 0;  // of cover(); 0 for bands of 80 and 95 %
  std::vector<std::string> notes_;
};

/// Returns facts of the smallest table.
MixedFacts smallest_mixed_facts(const Config&);

}  // namespace bochner
