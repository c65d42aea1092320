#pragma once
/// A Gaussian process as a run keeps it.

#include <bochner/data/tables/table_rows.hpp>
#include <bochner/layers/gaussian_processes/gaussian_process.hpp>

namespace bochner {

/// Its name in models.
inline constexpr const char* units_name = "units";

/// What is learned is in the units of the rows that it was learned from: they are a buffer, saved
/// with the model, so that rows that come later are measured in the same.
class LearnedProcess : public GaussianProcess {
 public:
  explicit LearnedProcess(const GaussianProcessSpec& spec);
  /// Of each input, and of the target behind them.
  void set_units(const std::vector<ColumnUnit>& units);
  /// To the last bit what was set.
  std::vector<ColumnUnit> units() const;
  void visit(Visitor& visitor) override;

 private:
  /// (d + 1, 2, 4): mean and deviation of each column, each as its binary exponent and three parts
  /// of its mantissa. A single float would be off by a minute in seconds since 1970, and by its
  /// rounding in what is computed in double.
  Tensor units_;
};

}  // namespace bochner
