#pragma once
/// Tables for regression: input columns and one target column, of any number of rows.

#include <bochner/data/dataset.hpp>
#include <bochner/data/formats/array.hpp>

namespace bochner {

struct TableColumns {
  std::vector<std::string> inputs = {};      ///< empty: all others
  std::string target = "";                   ///< empty: the last
  std::vector<std::string> categories = {};  ///< inputs or target whose values are categories
};
struct TableSpec {
  TableColumns columns = {};
  double validation = 0.1;
  std::string held_out = "random";  ///< or "last"
  std::size_t rows = 0;             ///< rows of an example, 0 for all
  std::uint64_t seed = 1;
};
inline void describe(Keys& keys, TableSpec& spec) {
  keys("inputs", spec.columns.inputs,
       "input columns, by name or by number from 1; none for all but the target");
  keys("target", spec.columns.target,
       "column to predict, by default the last; rows without it are skipped");
  keys.when(when("model.kind", {"ensemble"}))(
      "categories", spec.columns.categories,
      "columns whose texts or numbers are categories: inputs become a column for each, and the "
      "target is a class");
  keys("held_out", spec.held_out, one_of({"random", "last"}),
       "which rows validate, data.validation of them");
  keys("rows", spec.rows,
       "rows of an example, drawn anew each epoch, 0 for all; an exact step costs the cube of "
       "their number; an ensemble is fitted to so many rows");
}

/// Observations with inputs by column, so that lags between rows are fast.
struct Observations {
  std::vector<std::vector<double>> inputs;  ///< (d, n)
  std::vector<double> targets;              ///< (n), or empty

  std::size_t size() const { return inputs.empty() ? 0 : inputs[0].size(); }
  Observations rows(const std::vector<std::size_t>& chosen) const;
};

/// Observations of a file in their own units, with the names of columns. Missing targets are NaN.
struct RegressionTable {
  Observations observations;
  std::vector<std::string> inputs;  ///< names
  std::string target;
  std::optional<std::size_t> time;  ///< the input of time stamps in seconds since 1970, if any
  std::string file = "";            ///< file it was read from, for messages
};
/// Returns the observations of a table. Throws DataError for missing or repeated columns, and for
/// missing inputs, with their row.
RegressionTable regression_table(const NamedArray& array, const TableColumns& columns);
Observations inputs_of(const NamedArray& array, const RegressionTable& like);
/// Returns the columns that are inputs: those wanted, or all but the target. Throws DataError for
/// missing or repeated columns.
std::vector<std::size_t> input_columns(const NamedArray& array, const TableColumns& wanted,
                                       std::size_t target);
/// Merges tables. Throws DataError if names or order of columns differ, or dates meet numbers.
RegressionTable merged(std::vector<RegressionTable> tables);

/// Standardization of a column: x -> (x - mean) / deviation; deviation 1 for equal numbers.
struct ColumnUnit {
  double mean = 0, deviation = 1;
  double standard(double x) const { return (x - mean) / deviation; }
  double original(double x) const { return mean + deviation * x; }
  friend bool operator==(const ColumnUnit&, const ColumnUnit&) = default;
};
ColumnUnit unit_of(const std::vector<double>& numbers);

/// Rows with a target, some of them held out. A training example is all other rows, or `rows` of
/// them; a validation example is up to validation_rows held-out ones.
class TableRows : public Dataset {
 public:
  static constexpr std::size_t validation_rows = 512;

  TableRows(RegressionTable table, const TableSpec& spec);
  const RegressionTable& table() const { return table_; }
  /// Returns the units of the training rows: of each input, then of the target.
  std::vector<ColumnUnit> training_units() const;
  /// Sets the units of rows: of each input, then of the target. Default: training_units().
  void set_units(std::vector<ColumnUnit> units);
  const std::vector<ColumnUnit>& units() const { return units_; }
  const ColumnUnit& target_unit() const { return units_.back(); }
  Observations example(Split split, const Examples::Number& number) const;
  /// Returns the rows of the table that are a training example.
  std::vector<std::size_t> training_numbers(const Examples::Number& number) const;
  const Observations& training_rows() const { return training_; }
  const Observations& held_rows() const { return held_; }
  Observations standardized(Observations rows) const;
  std::uint64_t tokens_per_example() const override {
    return spec_.rows == 0 ? training_.size() : spec_.rows;
  }
  std::uint64_t fingerprint() const override;

 protected:
  std::string describe() const override;
  std::string describe_splits() const override;

 private:
  /// Returns the indices of the training rows that are an example.
  std::vector<std::size_t> example_rows(const Examples::Number& number) const;

  RegressionTable table_;
  TableSpec spec_;
  std::vector<std::size_t> training_numbers_, held_numbers_;  // indices of rows of the table
  std::vector<ColumnUnit> units_;
  Observations training_, held_;  // standardized
};

}  // namespace bochner
