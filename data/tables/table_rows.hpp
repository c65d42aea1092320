#pragma once
/// Tables for regression: columns of inputs and one of targets, of as many rows as there are.

#include <bochner/data/dataset.hpp>
#include <bochner/data/formats/array.hpp>

namespace bochner {

/// Columns of a table, by name or by number from 1.
struct TableColumns {
  std::vector<std::string> inputs = {};  ///< none for all others
  std::string target = "";               ///< empty for the last
};
/// Which rows are held out, and how many make an example.
struct TableSpec {
  TableColumns columns = {};
  double validation = 0.1;
  std::string held_out = "random";  ///< or "last" of the table
  std::size_t rows = 0;             ///< of an example, 0 for all
  std::uint64_t seed = 1;
};
inline void describe(Keys& keys, TableSpec& spec) {
  keys("inputs", spec.columns.inputs,
       "table: the columns of inputs, by name or by number from 1; none for all but the target");
  keys("target", spec.columns.target,
       "table: the column to be predicted; by default the last. Rows without it are passed over");
  keys("held_out", spec.held_out, one_of({"random", "last"}),
       "table: which rows validate, data.validation of them: any, or the last of the table");
  keys("rows", spec.rows,
       "table: rows of an example, drawn anew in each epoch, 0 for all: a step of all rows costs "
       "the cube of their number (exact), of parts of them only theirs");
}

/// Inputs column by column, so that lags between rows are quick.
struct Observations {
  std::vector<std::vector<double>> inputs;  ///< (d, n)
  std::vector<double> targets;              ///< (n), or nothing

  std::size_t size() const { return inputs.empty() ? 0 : inputs[0].size(); }
  Observations rows(const std::vector<std::size_t>& chosen) const;
};

/// Numbers of a file, as they are, with the names of the columns. Missing targets are NaN.
struct RegressionTable {
  Observations observations;
  std::vector<std::string> inputs;  ///< names
  std::string target;
  std::optional<std::size_t> time;  ///< the input that is in seconds since 1970, if one is
  std::string file = "";            ///< where it was read, for messages
};
/// Throws DataError for columns that are not there or chosen twice, and for inputs that are
/// missing, with their row.
RegressionTable regression_table(const NamedArray& array, const TableColumns& columns);
/// The inputs alone, of columns called as those of `like`.
Observations inputs_of(const NamedArray& array, const RegressionTable& like);
/// Of several files as one. Throws DataError where their columns have other names, another order or
/// other units.
RegressionTable merged(std::vector<RegressionTable> tables);

/// x -> (x - mean) / deviation; that of equal numbers is 1.
struct ColumnUnit {
  double mean = 0, deviation = 1;
  double standard(double x) const { return (x - mean) / deviation; }
  double original(double x) const { return mean + deviation * x; }
  friend bool operator==(const ColumnUnit&, const ColumnUnit&) = default;
};
ColumnUnit unit_of(const std::vector<double>& numbers);

/// Rows with a target, some of them held out. An example of training is all others, or `rows` of
/// them; one of validation is up to validation_rows of those held out.
class TableRows : public Dataset {
 public:
  static constexpr std::size_t validation_rows = 512;

  TableRows(RegressionTable table, const TableSpec& spec);
  const RegressionTable& table() const { return table_; }
  /// Of the training rows: of each input, and of the target behind them.
  std::vector<ColumnUnit> own_units() const;
  /// In which rows are given: of each input, and of the target behind them; own_units() at first.
  void measure_in(std::vector<ColumnUnit> units);
  const std::vector<ColumnUnit>& units() const { return units_; }
  const ColumnUnit& target_unit() const { return units_.back(); }
  /// In these units.
  Observations example(Split split, const Examples::Number& number) const;
  const Observations& training_rows() const { return training_; }
  const Observations& held_rows() const { return held_; }
  /// Inputs of other rows.
  Observations standardized(Observations rows) const;
  std::uint64_t tokens_per_example() const override;
  std::uint64_t fingerprint() const override;

 protected:
  std::string describe() const override;
  std::string describe_splits() const override;

 private:
  RegressionTable table_;
  TableSpec spec_;
  std::vector<std::size_t> training_numbers_, held_numbers_;  // of rows of the table
  std::vector<ColumnUnit> units_;
  Observations training_, held_;  // in these units
};

}  // namespace bochner
