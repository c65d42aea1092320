#pragma once
#include <bochner/data/tables/table_rows.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>
#include <bochner/train/config/config.hpp>
#include <bochner/train/tasks/facts.hpp>
#include <bochner/train/tasks/learner.hpp>
#include <optional>

namespace bochner {

template <class Archive>
void serialize(Archive& archive, ColumnUnit& unit) {
  archive(unit.mean, unit.deviation);
}

template <class Archive>
void serialize(Archive& archive, RegressionTable& table) {
  std::uint64_t time = table.time ? *table.time + 1 : 0;
  archive(table.inputs, table.target, time, table.observations.inputs, table.observations.targets);
  table.time = time > 0 ? std::optional<std::size_t>(time - 1) : std::nullopt;
}

struct ProcessFacts {
  static constexpr const char* kind = "table";
  RegressionTable table = {};          ///< all rows; the config says which are held out
  std::vector<ColumnUnit> units = {};  ///< of each input, then of the target
  std::uint64_t components = 1;        ///< of a mixture

  template <class Archive>
  void serialize(Archive& archive) {
    archive(table, units, components);
  }
  void check() const;
};

/// Returns how a config splits the rows of a table.
TableSpec table_spec(const Config& config);

inline ProcessRows rows_of(const Observations& observations) {
  return {observations.inputs, observations.targets};
}

/// Predicts a column of a table from others, by a Gaussian process.
class ProcessLearner : public Learner, public AnswersTables {
 public:
  /// Throws DataError for more rows or features than the method can take.
  ProcessLearner(const Config& config, ProcessFacts facts);

  GaussianProcess& model() override { return model_; }
  std::string describe() const override;
  std::string facts() const override;
  void illustrate(Page& page) override;
  LearnerAbilities abilities() override { return {.tables = this}; }

  ReadOptions read_options() const override { return reading_; }
  std::vector<std::string> input_columns() const override { return rows_->table().inputs; }
  /// Returns the inputs, and mean, deviation and quantiles of the target, for rows of inputs.
  NamedArray predict(const NamedArray& question) override;

  /// Returns the rows, in the units of the model.
  const TableRows& rows() const { return *rows_; }
  /// Predicts rows in the units of the model. Conditions the process on the training rows again if
  /// its parameters have changed.
  ProcessPrediction predict_rows(const Observations& rows);
  /// Frees the posterior that predict_rows() caches.
  void forget_posterior() { posterior_ = nullptr; }

 private:
  std::optional<TableRows> rows_;  // none without facts
  std::uint64_t components_;
  ReadOptions reading_;
  GaussianProcess model_;
  std::vector<double> conditioned_at_;  // parameters of the cached posterior
  std::unique_ptr<ProcessPosterior> posterior_;
};

}  // namespace bochner
