#pragma once
/// Tables of numbers and categories with missing cells, encoded as numbers.

#include <bochner/data/tables/table_rows.hpp>

namespace bochner {

/// Column of numbers, or of categories by their index; NaN is missing.
struct MixedColumn {
  std::string name = "";
  std::vector<std::string> categories = {};  ///< in order; none for a column of numbers
  std::vector<double> values = {};           ///< (n)

  bool has_categories() const { return !categories.empty(); }
  friend bool operator==(const MixedColumn&, const MixedColumn&) = default;
};

struct MixedTable {
  std::vector<MixedColumn> inputs = {};
  MixedColumn target = {};

  /// Returns some rows, with the same categories.
  MixedTable chosen(const std::vector<std::size_t>& rows) const;
};

/// Returns the columns of a table that `columns` names. Numbers in a column of categories become
/// texts. Throws DataError for missing or repeated columns, and for texts elsewhere.
MixedTable mixed_table(const NamedArray& array, const TableColumns& columns);
/// Appends the rows of a table with the same columns, and sorts categories: as numbers if they are.
void append(MixedTable& table, const MixedTable& more);

/// Inputs as numbers, and the column of the table of each: a number, then whether it is missing if
/// any is; or 1 for each category of a cell, else 0.
struct EncodedInputs {
  std::vector<std::string> names = {};
  std::vector<std::size_t> groups = {};
  std::vector<std::vector<double>> values = {};  ///< (inputs, n)
};
/// Encodes inputs like those of `known`, whose columns and categories they have. Missing numbers
/// become the mean of the known column.
EncodedInputs encoded_inputs(const MixedTable& table, const MixedTable& known);
/// Encodes the inputs of an array like those of `known`, and adds a note for each column with
/// categories that it lacks; these are 0 in all columns. Throws DataError for missing columns.
EncodedInputs encoded_inputs(const NamedArray& rows, const MixedTable& known,
                             std::vector<std::string>& notes);

/// Returns the encoded rows and the target: numbers, or indices of classes.
RegressionTable encoded_table(const MixedTable& table, const MixedTable& known);

}  // namespace bochner
