#include <bochner/base/errors.hpp>
#include <bochner/train/tasks/series/known_rows.hpp>
#include <cmath>
#include <limits>

namespace bochner {
namespace {

/// Fills in missing values of one column. Returns which were.
std::vector<bool> fill_column(NamedArray& table, const std::vector<std::size_t>& rows,
                              std::size_t column) {
  std::vector<bool> missing;
  double last = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t row : rows) {
    const double value = table.values(row, column);
    missing.push_back(std::isnan(value));
    if (std::isnan(last) && !missing.back())
      for (std::size_t i = 0; i + 1 < missing.size(); ++i) table.values(rows[i], column) = value;
    if (!missing.back()) last = value;
    table.values(row, column) = last;
  }
  if (std::isnan(last))
    throw DataError("column ", column_name(table, column), ": has no value at all");
  return missing;
}

}  // namespace

std::vector<KnownRows> known_rows(const NamedArray& input, const RequestRules& rules,
                                  std::vector<std::string>& left_out) {
  auto [table, columns, parts] = parts_of_table(input, rules, left_out);
  std::vector<KnownRows> all;
  for (const SeriesRows& part : parts) {
    KnownRows known{{}, part.rows, {}, target_columns(table, columns), 0};
    if (known.columns.size() != rules.facts.variates)
      throw DataError("the input has ", known.columns.size(), " variates; the model forecasts ",
                      rules.facts.variates);
    for (const std::size_t column : known.columns)
      known.missing.push_back(fill_column(table, part.rows, column));
    known.series = time_series(table, columns, part);
    known.series.clock = clock_of(table, part.rows);
    known.number = rules.facts.number_of(part.id).value_or(0);
    all.push_back(std::move(known));
  }
  return all;
}

}  // namespace bochner
