#include <bochner/base/errors.hpp>
#include <bochner/data/tables/table_source.hpp>
#include <cmath>

namespace bochner {
namespace {

/// Throws DataError unless all texts of a column are numbered by its values; NaN is no text.
void check_texts(const NamedArray& table, std::size_t column, std::size_t texts) {
  for (std::size_t row = 0; row < table.values.shape()[0]; ++row) {
    const double value = table.values(row, column);
    if (!std::isnan(value) && !(value >= 0 && value < double(texts) && value == std::floor(value)))
      throw DataError("row ", row + 1, ", ", column_name(table, column), ": ", value,
                      " is not the number of one of ", texts, " texts");
  }
}

void check_table(const NamedArray& table) {
  const auto& shape = table.values.shape();
  if (shape.size() != 2 || table.values.size() == 0)
    throw DataError("makes an array of ", shape.size(), " axes with ", table.values.size(),
                    " numbers; expected a table (rows, columns)");
  if (!table.columns.empty() && table.columns.size() != shape[1])
    throw DataError("names ", table.columns.size(), " columns of ", shape[1]);
  if (table.time && *table.time >= shape[1])
    throw DataError("has times in column ", *table.time, " of ", shape[1]);
  for (const auto& [column, texts] : table.texts) {
    if (column >= shape[1]) throw DataError("has texts in column ", column, " of ", shape[1]);
    check_texts(table, column, texts.size());
  }
}

}  // namespace

TableSources& table_sources() {
  static TableSources all("source of tables", {});
  return all;
}

NamedArray make_table(const TableSourceSpec& spec) {
  NamedArray table = table_sources().make(spec.source, spec)->table();
  try {
    check_table(table);
  } catch (const DataError& error) {
    throw DataError(spec.source, ": ", error.what());
  }
  return table;
}

}  // namespace bochner
